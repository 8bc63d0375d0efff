export default { async test() {
 console.log({p:new Proxy({a:1},{})}, new Proxy([1,2],{}), new Proxy(()=>1,{}));
 class A extends Error{}; console.log(Object.assign(new A('q'),{stack:undefined})); console.log({a:Object.assign(new Error('multi\nline'),{x:1})}); 
 console.log(Object.create(URL.prototype)===null, new (class Foo extends EventTarget{x=1}), new (class Q extends Event{})('z').type);
 console.log(Object.assign(new Error('e'),{name:'Renamed'})); class VE extends Error{ name='VE' } console.log(new VE('m')); class Foo extends Error {}; console.log(new Foo('m'));
 console.log(new Map([[{a:1},new Map([[1,2]])]]), new Map([[1,2]]).values(), new Map([[1,2]]).entries(), new Set([1]).entries(), new Set([1,2]).values());
 console.log({a:'line1\nline2 is quite long and goes on and on and on and on and on so that it wraps around'});
 console.log('%s|%s|%s|%s', [1,2], new Date(0), ()=>1, class Z{}); console.log('%s', new Error('in %s')); console.log('%s', {toString(){return 'custom'}}, new (class T{toString(){return 'T!'}}));
 console.log('%i %d %f', {a:1}, {a:1}, 'x'); console.log('%o', ()=>1); console.log('%', 1); console.log('%z %s', 1); console.log('100%', 5); console.log('%%', 5);console.log('%s'); console.log(5, '%s', 'x');
 console.log([1.5,-2,3,4,5,6,7,8,9,10], ['a','bb','ccc','dddd','eeeee','ffffff','ggggggg'], [true,false,null,undefined,1n,Symbol('a'),'x',{}]);
 console.log({f:function(){}, g:()=>{}, h:class{}, [Symbol.iterator]:1}); console.log([undefined, , null]); console.log(new Array(200).fill('abc')); 
 console.log(new Uint8Array([1,2,3]).buffer, new SharedArrayBuffer(2), new Float64Array([1.5,-0]), new BigInt64Array(2));
 console.log([['a',1],['b',2]], {a:[{b:{c:1}}]}, [[[]]], [[[{}]]], {a:{}}, [{a:1,b:2},{a:3,b:4}]);
 console.log(Object.create({constructor:null}), Object.create(Object.create(null)), new (class extends null{ constructor(){ return Object.create(new.target.prototype)} }));
 console.log(new Set([[1,2],{a:1}]), new Set(), new Map(), [ ], { }, new (class Empty{}), new WeakRef({}), Symbol.iterator);
 console.log(async()=>{}, function*(){}, async function*ag(){}, Math.max, Promise, Object);
}};
