// URLPattern.
//// case: patterns and their components
const all = [];
for (const args of [
  [], [{}], [null], ['https://:sub.example.com/books/:id(\\d+)/*?q=*#:h?'], ['/foo', 'http://a'], [{ pathname: 'a', baseURL: 'http://h/b/c' }], [{ hostname: '\u00e9.com', pathname: '/caf\u00e9' }],
  [{ protocol: 'http{s}?', pathname: '{/a}?' }], ['(https?)://a/b'], ['data\\:foobar'], [{ port: '80', protocol: 'http' }], [{ search: '?a=b', hash: '#x' }], [{ pathname: '/[a--b]([\\p{L}--[a-z]])' }],
]) {
  const p = new URLPattern(...args);
  all.push([p.protocol, p.username, p.password, p.hostname, p.port, p.pathname, p.search, p.hash, p.hasRegExpGroups]);
}
return all;
//// => {"value":[["*","*","*","*","*","*","*","*",false],["*","*","*","*","*","*","*","*",false],["*","*","*","*","*","*","*","*",false],["https","*","*",":sub.example.com","","/books/:id(\\d+)/*?q=*","",":h?",true],["http","*","*","a","","/foo","*","*",false],["http","*","*","h","","/b/a","*","*",false],["*","*","*","xn--9ca.com","*","/caf%C3%A9","*","*",false],["http{s}?","*","*","*","*","{/a}?","*","*",false],["(https?)","*","*","a","","/b","*","*",true],["data","*","*","","","foobar","*","*",false],["http","*","*","*","","*","*","*",false],["*","*","*","*","*","*","a=b","x",false],["*","*","*","*","*","/[a--b]([\\p{L}--[a-z]])","*","*",true]]}

//// case: what is no pattern
const all = [];
for (const args of [[1], ['/foo'], [{}, 'http://a'], ['http://a/('], [{ pathname: '(' }], [{ pathname: '/:' }], [{ pathname: '/:a/:a' }], [{ pathname: '([)' }], [{ pathname: '(?<x>' }], [{ hostname: 'a b' }], [{ port: 'x' }], [{ baseURL: 'x' }], ['x:y', 'nope'], ['http://a', 1], [{ pathname: '/(?=x)*' }]]) {
  try { new URLPattern(...args); all.push('ok'); } catch (e) { all.push(`${e.name}: ${e.message}`); }
}
return all;
//// => {"value":["TypeError: Failed to construct URLPattern","TypeError: Failed to construct URLPattern","TypeError: Failed to construct URLPattern","TypeError: Failed to construct URLPattern","TypeError: Failed to construct URLPattern","TypeError: Failed to construct URLPattern","TypeError: Failed to construct URLPattern","TypeError: Failed to construct URLPattern","TypeError: Failed to construct URLPattern","TypeError: Failed to construct URLPattern","TypeError: Failed to construct URLPattern","TypeError: Failed to construct URLPattern","TypeError: Failed to construct URLPattern","TypeError: Failed to construct URLPattern","TypeError: Failed to construct URLPattern"]}

//// case: matches
const p = new URLPattern({ hostname: ':sub.example.com', pathname: '/books/:id(\\d+)/*' });
return [
  p.exec('https://a.example.com/books/12/x/y?q=1#z'), p.test('https://a.example.com/books/ab/x'), p.exec('nope'), p.exec('/books/1/2?q', 'https://z.example.com'), p.exec('/x', 'bad'),
  p.test(), p.exec(null), p.test({ hostname: 'b.example.com', pathname: '/books/1/' }), new URLPattern({ pathname: '/a/:b?' }).exec({ pathname: '/a' }), new URLPattern({ pathname: '/:a*' }).exec({ pathname: '/x/y' }),
];
//// => {"value":[{"inputs":["https://a.example.com/books/12/x/y?q=1#z"],"protocol":{"input":"https","groups":{"0":"https"}},"username":{"input":"","groups":{"0":""}},"password":{"input":"","groups":{"0":""}},"hostname":{"input":"a.example.com","groups":{"sub":"a"}},"port":{"input":"","groups":{"0":""}},"pathname":{"input":"/books/12/x/y","groups":{"0":"x/y","id":"12"}},"search":{"input":"q=1","groups":{"0":"q=1"}},"hash":{"input":"z","groups":{"0":"z"}}},false,null,{"inputs":["/books/1/2?q","https://z.example.com"],"protocol":{"input":"https","groups":{"0":"https"}},"username":{"input":"","groups":{"0":""}},"password":{"input":"","groups":{"0":""}},"hostname":{"input":"z.example.com","groups":{"sub":"z"}},"port":{"input":"","groups":{"0":""}},"pathname":{"input":"/books/1/2","groups":{"0":"2","id":"1"}},"search":{"input":"q","groups":{"0":"q"}},"hash":{"input":"","groups":{"0":""}}},null,false,null,true,{"inputs":[{"protocol":{"$":"undefined"},"username":{"$":"undefined"},"password":{"$":"undefined"},"hostname":{"$":"undefined"},"port":{"$":"undefined"},"pathname":"/a","search":{"$":"undefined"},"hash":{"$":"undefined"},"baseURL":{"$":"undefined"}}],"protocol":{"input":"","groups":{"0":""}},"username":{"input":"","groups":{"0":""}},"password":{"input":"","groups":{"0":""}},"hostname":{"input":"","groups":{"0":""}},"port":{"input":"","groups":{"0":""}},"pathname":{"input":"/a","groups":{"b":{"$":"undefined"}}},"search":{"input":"","groups":{"0":""}},"hash":{"input":"","groups":{"0":""}}},{"inputs":[{"protocol":{"$":"undefined"},"username":{"$":"undefined"},"password":{"$":"undefined"},"hostname":{"$":"undefined"},"port":{"$":"undefined"},"pathname":"/x/y","search":{"$":"undefined"},"hash":{"$":"undefined"},"baseURL":{"$":"undefined"}}],"protocol":{"input":"","groups":{"0":""}},"username":{"input":"","groups":{"0":""}},"password":{"input":"","groups":{"0":""}},"hostname":{"input":"","groups":{"0":""}},"port":{"input":"","groups":{"0":""}},"pathname":{"input":"/x/y","groups":{"a":"x/y"}},"search":{"input":"","groups":{"0":""}},"hash":{"input":"","groups":{"0":""}}}]}

//// case: cases of letters, and options
const all = [];
for (const args of [[{ pathname: '/a' }, { ignoreCase: true }], [{ pathname: '/a' }, {}], ['http://h/a', undefined, { ignoreCase: 1 }], ['/a', 'http://h', { ignoreCase: true }]]) all.push(new URLPattern(...args).test('http://h/A'));
try { new URLPattern({ pathname: '/x' }).test({ pathname: '/x' }, 'http://a'); } catch (e) { all.push(`${e.name}: ${e.message}`); }
return all;
//// => {"value":[true,false,true,true,"TypeError: Failed to test URLPattern"]}
