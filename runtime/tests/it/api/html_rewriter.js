import { label, show } from 'show';
const rewrite = (html, handlers, init) => {
  const rewriter = new HTMLRewriter();
  for (const [selector, handler] of handlers) selector === document ? rewriter.onDocument(handler) : rewriter.on(selector, handler);
  return rewriter.transform(new Response(html, init)).text();
};
const document = {};
const el = (f) => ({ element: f });
const tx = (f) => ({ text: f });
const cm = (f) => ({ comments: f });
export default {
  async test() {
    const cases = [
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.setInnerContent('y')})]]),
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.setInnerContent('<b>', { html: true })})]]),
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.setInnerContent('<b>')})]]),
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.before('1').after('2').prepend('3').append('4')})]]),
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.replace('r')})]]),
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.remove()})]]),
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.removeAndKeepContent()})]]),
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.remove();e.after('kept '+e.removed)})]]),
      ()=>rewrite('<p a="1" b c="&lt;">x</p>', [['p', el((e)=>{e.setInnerContent(JSON.stringify([...e.attributes]))})]]),
      ()=>rewrite('<p a=1>x</p>', [['p', el((e)=>{e.setInnerContent(JSON.stringify([e.getAttribute('a'),e.getAttribute('A'),e.getAttribute('z'),e.hasAttribute('a'),e.tagName,e.namespaceURI]))})]]),
      ()=>rewrite('<p a=1>x</p>', [['p', el((e)=>{e.setAttribute('b','"').removeAttribute('a')})]]),
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.tagName='div'})]]),
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.setAttribute('a b','x')})]]),
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.tagName='a b'})]]),
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.onEndTag((t)=>{t.before('<');t.name+='q';t.after('>')})})]]),
      ()=>rewrite('<br>', [['br', el((e)=>{e.onEndTag(()=>{})})]]),
      ()=>rewrite('<p>one</p>', [['p', tx((t)=>{if(t.text)t.replace(t.text.toUpperCase()+t.lastInTextNode)})]]),
      ()=>rewrite('<p>a<!--c-->b</p>', [['p', cm((c)=>{c.text=c.text+'!'})]]),
      ()=>rewrite('<p><!--c--></p>', [['p', cm((c)=>{c.before('b').after('a').replace('<i>', { html: true })})]]),
      ()=>rewrite('<p><!--c--></p>', [['p', cm((c)=>{c.remove();c.before(''+c.removed)})]]),
      ()=>rewrite('<p><!--c--></p>', [['p', cm((c)=>{c.text='--\x3e'})]]),
      ()=>rewrite('<!doctype html><!--x--><p>y</p>z', [[document, { doctype(d){this.d=[d.name,d.publicId,d.systemId]}, comments(c){c.remove()}, text(t){if(t.text==='z')t.replace('Z')}, end(e){e.append(JSON.stringify(this.d))} }]]),
      ()=>rewrite('<ul><li class="a b" id="i">1</li><li>2</li></ul>', [['ul > li.a#i[class~=b]', el((e)=>{e.append('!')})]]),
      ()=>rewrite('<p>x</p>', [['p:nth-child(2)', el(()=>{})]]),
      ()=>rewrite('<p>x</p>', [['p[', el(()=>{})]]),
      ()=>rewrite('<p>x</p>', [['p + p', el(()=>{})]]),
      ()=>rewrite('<p>x</p>', [['p', {}]]),
      ()=>rewrite('<p>x</p>', [['p', 5]]),
      ()=>rewrite('<p>x</p>', [['p', el(async (e)=>{await scheduler.wait(1);e.append('later')})]]),
      ()=>rewrite('<p>x</p><p>y</p>', [['p', el(()=>{throw new RangeError('mine')})]]),
      ()=>rewrite('<p>x</p>', [['p', el(async ()=>{throw new RangeError('mine')})]]),
      async()=>{let kept;await rewrite('<p>x</p>', [['p', el((e)=>{kept=e})]]);return kept.tagName},
      ()=>new HTMLRewriter().transform('x'),
      ()=>new HTMLRewriter().transform(),
      ()=>new HTMLRewriter().on(),
      ()=>new HTMLRewriter().on('p') ,
      ()=>new HTMLRewriter().transform(new Response(null)).text(),
      async()=>{const r=new Response('<p>', { status: 201, headers: { 'content-length': '3', 'x-a': 'b', 'content-type': 'text/html' } });const t=new HTMLRewriter().on('p', el((e)=>{e.after('more')})).transform(r);return JSON.stringify([t.status,[...t.headers],r.bodyUsed,await t.text()])},
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.append(5)})]]),
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.append()})]]),
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.append('s', 5)})]]),
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.append(new Response('<i>r</i>'), { html: true })})]]),
      ()=>rewrite('<p>x</p>', [['p', el((e)=>{e.append(new ReadableStream({ start(c){c.enqueue(new TextEncoder().encode('<s>'));c.close()} }))})]]),
      ()=>rewrite('<svg><a/></svg>', [['a', el((e)=>{e.after(e.namespaceURI + e.selfClosing + e.canHaveContent)})]]),
      ()=>rewrite('<script>a<b</script><style>p{}</style>', [['script', tx((t)=>{if(t.text)t.replace('1 < 2', { html: true })})]]),
      ()=>rewrite('<p>\u00e9</p>', [['p', el((e)=>{e.append('\u20ac')})]]),
      ()=>rewrite(new Uint8Array([60, 112, 62, 233, 60, 47, 112, 62]), [['p', el((e)=>{e.append('\u00e8')})]], { headers: { 'content-type': 'text/html; charset=windows-1252' } }),
      ()=>rewrite('<p>x', [['p', el((e)=>{e.append('end')})]]),
      ()=>rewrite('<a><b></a></b>', [['*', el((e)=>{e.setAttribute('n', e.tagName)})]]),
      ()=>Object.getOwnPropertyNames(HTMLRewriter.prototype).sort().join(),
    ];
    for (const act of cases) await show(label(act), act);
  },
};
