// HTMLRewriter: selectors, tokens, content, errors.
//// case: selectors are checked when given
const all = [];
for (const selector of ['a', 'a[href^="x" i] > b:nth-child(2n+1), *:not(.c)', '', 'a[', 'a:hover', 'a ~ b', '..', '#1']) {
  try { new HTMLRewriter().on(selector, {}); all.push('ok'); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return all;
//// => {"value":["ok","ok","TypeError: Parser error: The selector is empty.","TypeError: Parser error: Unexpected end of selector.","TypeError: Parser error: Unsupported pseudo-class or pseudo-element in selector.","TypeError: Parser error: Unsupported combinator `~` in selector.","TypeError: Parser error: Invalid or unescaped class name in selector.","TypeError: Parser error: The selector is empty."]}

//// case: handlers are checked when given
const all = [];
for (const act of [
  (r) => r.on('a'), (r) => r.on('a', null), (r) => r.on('a', 1), (r) => r.on('a', { element: 1 }), (r) => r.on('a', { text: null }),
  (r) => r.onDocument(), (r) => r.onDocument({ end: 1 }), (r) => r.transform(), (r) => r.transform('x'),
  (r) => r.transform(Response.error()), (r) => r.on('a', {}) === r, (r) => r.onDocument({}) === r,
]) {
  try { all.push(typeof act(new HTMLRewriter())); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return all;
//// => {"value":["TypeError: Failed to execute 'on' on 'HTMLRewriter': parameter 2 is not of type 'ElementContentHandlers'.","object","TypeError: Failed to execute 'on' on 'HTMLRewriter': parameter 2 is not of type 'ElementContentHandlers'.","TypeError: Incorrect type for the 'element' field on 'ElementContentHandlers': the provided value is not of type 'function'.","TypeError: Incorrect type for the 'text' field on 'ElementContentHandlers': the provided value is not of type 'function'.","TypeError: Failed to execute 'onDocument' on 'HTMLRewriter': parameter 1 is not of type 'DocumentContentHandlers'.","TypeError: Incorrect type for the 'end' field on 'DocumentContentHandlers': the provided value is not of type 'function'.","TypeError: Failed to execute 'transform' on 'HTMLRewriter': parameter 1 is not of type 'Response'.","TypeError: Failed to execute 'transform' on 'HTMLRewriter': parameter 1 is not of type 'Response'.","TypeError: HTMLRewriter cannot transform an error response","boolean","boolean"]}

//// case: a response without a body is itself
const r = new Response(null);
return [new HTMLRewriter().transform(r) === r, r.bodyUsed];
//// => {"value":[true,false]}

//// case: what is kept of the response
const from = new Response('<a>', { status: 404, statusText: 'Gone', headers: { a: 'b', 'content-length': '3' }, cf: { x: 1 } });
const r = new HTMLRewriter().transform(from);
return [r.status, r.statusText, [...r.headers], r.cf, r.url, r.type, r.redirected, from.bodyUsed, from.body.locked];
//// => {"value":[404,"Gone",[["a","b"],["content-length","3"],["content-type","text/plain;charset=UTF-8"]],{"x":1},"","default",false,true,true]}

//// case: an element and its attributes
const seen = [];
const r = new HTMLRewriter().on('div', { element(e) {
  seen.push(e.tagName, e.namespaceURI, e.removed, [...e.attributes], e.getAttribute('B'), e.getAttribute('x'), e.hasAttribute('a'));
  seen.push(e.setAttribute('c', '"q"') === e, e.removeAttribute('a') === e, [...e.attributes]);
  e.tagName = 'p';
} });
return [await r.transform(new Response('<DIV a=1 b="2">x</DIV>')).text(), seen];
//// => {"value":["<p b=\"2\" c=\"&quot;q&quot;\">x</p>",["div","http://www.w3.org/1999/xhtml",false,[["a","1"],["b","2"]],"2",null,true,true,true,[["b","2"],["c","\"q\""]]]]}

//// case: content in every place
const r = new HTMLRewriter().on('p', { element(e) {
  e.before('<1>').before('<2>', { html: true }).prepend('<3>').prepend('<4>', { html: true });
  e.append('<5>').append('<6>', { html: true }).after('<7>').after('<8>', { html: true });
} });
return await r.transform(new Response('a<p>b</p>c')).text();
//// => {"value":"a&lt;1&gt;<2><p><4>&lt;3&gt;b&lt;5&gt;<6></p><8>&lt;7&gt;c"}

//// case: replaced, emptied, removed, unwrapped
const at = (selector, act) => [selector, { element: act }];
const r = new HTMLRewriter()
  .on(...at('a', (e) => { e.replace('<A>'); }))
  .on(...at('b', (e) => { e.setInnerContent('<i>', { html: true }); }))
  .on(...at('c', (e) => { e.remove(); }))
  .on(...at('d', (e) => { e.removeAndKeepContent(); }));
return await r.transform(new Response('<a>1</a><b>2</b><c>3</c><d>4<e>5</e></d>')).text();
//// => {"value":"&lt;A&gt;<b><i></b>4<e>5</e>"}

//// case: end tags
const r = new HTMLRewriter().on('a', { element(e) {
  e.onEndTag((tag) => { tag.before('never'); });
  e.onEndTag(async (tag) => { await scheduler.wait(1); tag.before('<', { html: false }).after('>'); tag.name = tag.name + 'b'; });
} }).on('u', { element(e) { e.onEndTag((tag) => tag.remove()); } });
return await r.transform(new Response('<a>1</a><u>2</u><a>3')).text();
//// => {"value":"<a>1&lt;</ab>&gt;<u>2<a>3"}

//// case: an end tag of what has none
const r = new HTMLRewriter().on('img', { element(e) { e.onEndTag(() => {}); } });
try { return await r.transform(new Response('<img>')).text(); } catch (e) { return `${e.name}: ${e.message}`; }
//// => {"value":"TypeError: Parser error: No end tag."}

//// case: comments
const seen = [];
const r = new HTMLRewriter().on('p', { comments(c) {
  seen.push(c.text, c.removed);
  try { c.text = 'a-->b'; } catch (e) { seen.push(e.message); }
  try { c.before(new Response('x')); } catch (e) { seen.push(e.name, e.message); }
  if (c.text === '1') c.text = 'one';
  else if (c.text === '2') seen.push(c.remove().removed);
  else c.before('(').after(')').replace('<x>', { html: true });
} });
return [await r.transform(new Response('<!--0--><p><!--1--><!--2--><!--3--></p>')).text(), seen];
//// => {"value":["<!--0--><p><!--one-->(<x>)</p>",["1",false,"Parser error: Comment text shouldn't contain a comment-closing sequence.","TypeError","Replacing content in HTML comments using a ReadableStream or Response object is not implemented. You must provide a string.","2",false,"Parser error: Comment text shouldn't contain a comment-closing sequence.","TypeError","Replacing content in HTML comments using a ReadableStream or Response object is not implemented. You must provide a string.",true,"3",false,"Parser error: Comment text shouldn't contain a comment-closing sequence.","TypeError","Replacing content in HTML comments using a ReadableStream or Response object is not implemented. You must provide a string."]]}

//// case: text comes in chunks with a last one
const seen = [];
const r = new HTMLRewriter().on('p', { text(t) { seen.push([t.text, t.lastInTextNode, t.removed]); if (t.lastInTextNode) t.before('!'); else t.replace(t.text.toUpperCase()); } });
return [await r.transform(new Response('<p>one<b>two</b>&amp;</p>three')).text(), seen];
//// => {"value":["<p>ONE!<b>TWO!</b>&amp;AMP;!</p>three",[["one",false,false],["",true,false],["two",false,false],["",true,false],["&amp;",false,false],["",true,false]]]}

//// case: a document's doctype, comments, text and end
const seen = [];
const r = new HTMLRewriter().onDocument({
  doctype(d) { seen.push(d.name, d.publicId, d.systemId); },
  comments(c) { seen.push(c.text); },
  text(t) { seen.push(t.text); },
  end(e) { seen.push('end'); e.append('<x>').append('<y>', { html: true }); },
});
return [await r.transform(new Response('<!DOCTYPE html PUBLIC "p" "s"><!--c-->t')).text(), seen];
//// => {"value":["<!DOCTYPE html PUBLIC \"p\" \"s\"><!--c-->t&lt;x&gt;<y>",["html","p","s","c","t","","end"]]}

//// case: tokens end with their handlers
let kept, attributes;
await new HTMLRewriter().on('a', { element(e) { kept = e; attributes = e.attributes; } }).transform(new Response('<a x=1>')).text();
const all = [];
for (const act of [() => kept.tagName, () => kept.getAttribute('x'), () => kept.before('x'), () => attributes.next(), () => { kept.tagName = 'b'; }]) {
  try { all.push(act()); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return all;
//// => {"value":["TypeError: This content token is no longer valid. Content tokens are only valid during the execution of the relevant content handler.","TypeError: This content token is no longer valid. Content tokens are only valid during the execution of the relevant content handler.","TypeError: This content token is no longer valid. Content tokens are only valid during the execution of the relevant content handler.","TypeError: This content token is no longer valid. Content tokens are only valid during the execution of the relevant content handler.","TypeError: This content token is no longer valid. Content tokens are only valid during the execution of the relevant content handler."]}

//// case: attributes changed under an iterator
const all = [];
await new HTMLRewriter().on('a', { element(e) {
  const iterator = e.attributes;
  all.push(iterator.next());
  e.setAttribute('z', 1);
  try { iterator.next(); } catch (error) { all.push(`${error.name}: ${error.message}`); }
} }).transform(new Response('<a x=1 y=2>')).text();
return all;
//// => {"value":[{"done":false,"value":["x","1"]},"Error: The attributes of this element have been modified during iteration. You must create a new iterator after modifying attributes."]}

//// case: names that are none
const all = [];
await new HTMLRewriter().on('a', { element(e) {
  for (const act of [() => { e.tagName = ''; }, () => { e.tagName = 'a b'; }, () => { e.tagName = '1'; }, () => e.setAttribute('', ''), () => e.setAttribute('a=', ''), () => e.setAttribute('a'), () => e.getAttribute(), () => e.before(), () => e.before('x', 1)]) {
    try { act(); all.push('ok'); } catch (error) { all.push(`${error.name}: ${error.message}`); }
  }
} }).transform(new Response('<a>')).text();
return all;
//// => {"value":["TypeError: Parser error: Tag name can't be empty.","TypeError: Parser error: ` ` character is forbidden in the tag name","TypeError: Parser error: The first character of the tag name should be an ASCII alphabetical character.","TypeError: Parser error: Attribute name can't be empty.","TypeError: Parser error: `=` character is forbidden in the attribute name","TypeError: Failed to execute 'setAttribute' on 'Element': parameter 2 is not of type 'string'.","TypeError: Failed to execute 'getAttribute' on 'Element': parameter 1 is not of type 'string'.","TypeError: Failed to execute 'before' on 'Element': parameter 1 is not of type 'string or JsReadableStream or Response'.","TypeError: Failed to execute 'before' on 'Element': parameter 2 is not of type 'ContentOptions'."]}

//// case: content that is a stream or a response
const stream = new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode('<s>')); c.close(); } });
const r = new HTMLRewriter().on('a', { element(e) {
  e.before(stream, { html: true }).append(new Response('<r>')).after(new Response(null)).prepend(12).after(undefined);
} });
return await r.transform(new Response('<a>x</a>')).text();
//// => {"value":"<s><a>12x&lt;r&gt;</a>undefined"}

//// case: content that is not UTF-8
const r = new HTMLRewriter().on('a', { element(e) { e.append(new Response(new Uint8Array([0x61, 0xff]))); } });
try { return await r.transform(new Response('<a>x</a>')).text(); } catch (e) { return `${e.name}: ${e.message}`; }
//// => {"value":"TypeError: Parser error: Invalid UTF-8"}

//// case: a handler that throws, and one that rejects
const all = [];
for (const element of [() => { throw new RangeError('now'); }, async () => { await scheduler.wait(1); throw new RangeError('later'); }]) {
  try { all.push(await new HTMLRewriter().on('*', { element }).transform(new Response('<a>x')).text()); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return all;
//// => {"value":["RangeError: now","RangeError: later"]}

//// case: charsets
const all = [];
for (const type of ['text/html; charset=utf-16le', 'text/html; charset=nonsense', 'text/html; charset="ISO-8859-1"', 'text/html;CHARSET=utf-8', 'text/html']) {
  try { new HTMLRewriter().transform(new Response('x', { headers: { 'content-type': type } })); all.push('ok'); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return all;
//// => {"value":["TypeError: Parser error: Expected ASCII-compatible encoding.","TypeError: Parser error: Unknown character encoding has been provided.","ok","ok","ok"]}

//// case: text in another charset, both ways
const seen = [];
const from = new Response(new Uint8Array([60, 112, 62, 0xe9, 60, 47, 112, 62]), { headers: { 'content-type': 'text/html; charset=windows-1252' } });
const to = await new HTMLRewriter().on('p', { text(t) { if (t.text !== '') { seen.push(t.text); t.after('\u00e9\u4e00'); } } }).transform(from).arrayBuffer();
return [seen, [...new Uint8Array(to)]];
//// => {"value":[["é"],[60,112,62,233,233,38,35,49,57,57,54,56,59,60,47,112,62]]}

//// case: markup that is ambiguous
try { return await new HTMLRewriter().on('*', { element() {} }).transform(new Response('<select><xmp><script>')).text(); } catch (e) { return `${e.name}: ${e.message}`; }
//// => {"value":"TypeError: Parser error: The parser has encountered a text content tag (`<xmp>`) in the context where it is ambiguous whether this tag should be ignored or not. And, thus, it is unclear whether consequent content should be parsed as raw text or HTML markup.\n\nThis error occurs due to the limited capabilities of the streaming parsing. However, almost all of the cases of this error are caused by a non-conforming markup (e.g. a `<script>` element in `<select>` element)."}

//// case: a tag longer than the parser's memory
try { return (await new HTMLRewriter().on('*', { element() {} }).transform(new Response('<a b="' + 'x'.repeat(4e6) + '">')).text()).length; } catch (e) { return `${e.name}: ${e.message}`; }
//// differs: a body at hand reaches the parser in pieces here, so that it has to hold such a tag
//// => {"value":"TypeError: Parser error: The memory limit has been exceeded."}

//// case: handlers of one element run in order, each with a token of its own
const seen = [];
const r = new HTMLRewriter()
  .on('a', { async element(e) { e.mark = 1; await scheduler.wait(2); seen.push('first'); e.setAttribute('n', '1'); } })
  .on('a', { element(e) { seen.push('second', e.mark, e.getAttribute('n')); } });
return [await r.transform(new Response('<a>')).text(), seen];
//// => {"value":["<a n=\"1\">",["first","second",{"$":"undefined"},"1"]]}

//// case: a rewriter serves several responses at once
const r = new HTMLRewriter().on('p', { async element(e) { await scheduler.wait(1); e.append('!'); } });
return await Promise.all(['1', '2', '3'].map((n) => r.transform(new Response(`<p>${n}</p>`)).text()));
//// => {"value":["<p>1!</p>","<p>2!</p>","<p>3!</p>"]}
