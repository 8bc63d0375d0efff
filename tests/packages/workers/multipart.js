// Reads a multipart upload and answers what it saw; `/back` sends it out again as multipart.
async function digest(blob) {
  const hash = await crypto.subtle.digest("SHA-256", await blob.arrayBuffer());
  return [...new Uint8Array(hash).subarray(0, 4)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

export default {
  async fetch(request) {
    let form;
    try {
      form = await request.formData();
    } catch (error) {
      return Response.json({ name: error.name, message: error.message }, { status: 400 });
    }
    if (new URL(request.url).pathname === "/back") {
      const copy = await new Response(form).formData();
      return Response.json([...copy].map(([name, value]) => [name, typeof value === "string" ? value : value.name]));
    }
    const parts = [];
    for (const [name, value] of form) {
      parts.push(typeof value === "string" ? { name, value } : { name, file: value.name, type: value.type, size: value.size, digest: await digest(value) });
    }
    return Response.json(parts);
  },
};
