// A query that is written through `searchParams`, and every other part before and after.
const PARTS = ['href', 'origin', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];
const URLS = [
  'https://user:pw@shop.example:8443/a/../b?q=1&r=two%20words#end',
  'https://shop.example',
  'https://shop.example/?#',
  'https://shop.example/#only',
  'mailto:somebody@example.com',
  'data:text/plain,x  ?q=1',
  'data:text/plain,x  ?q=1#f',
  'foo://host/p?a=b',
  'file:///C:/x?y#z',
];
const ACTS = {
  append: (url) => url.searchParams.append('mo re', "ü'~*&=+#?%\ud800\u{1f600}"),
  set: (url) => url.searchParams.set('q', ''),
  drop: (url) => {
    for (const name of [...url.searchParams.keys()]) url.searchParams.delete(name);
  },
  dropAndAppend: (url) => {
    url.searchParams.delete('q');
    url.searchParams.append('n', '1');
  },
  twice: (url) => {
    url.searchParams.append('a', '1');
    url.hash = 'longer-fragment';
    url.pathname = '/other/path';
    url.searchParams.append('b', '2');
    url.host = 'elsewhere.example:99';
    url.searchParams.sort();
  },
  afterSearch: (url) => {
    const params = url.searchParams;
    url.search = '?z=9&é=è';
    params.append('c', '3');
    url.href = 'http://new.example/?k=v#h';
    params.set('k', 'w');
  },
};
export default {
  async test() {
    for (const text of URLS) {
      for (const [name, act] of Object.entries(ACTS)) {
        const url = new URL(text);
        act(url);
        console.log(name, text, '=>', PARTS.map((part) => `${part}=${url[part]}`).join(' '), url.searchParams.toString(), url.searchParams.size);
      }
    }
  },
};
