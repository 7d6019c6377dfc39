import { expect } from 'chai';
import { beside, soundPart } from '../../data-plane-agent/base/sound.js';
import { MAX_ISSUES } from '../../data-plane-agent/base/validation.js';

const issues = (...paths: string[]) => paths.map((path) => ({ path, problem: 'is bad' }));

describe('the valid part of a refused body', () => {
  it('is the part without errors, at any depth; elements of lists keep their positions', () => {
    const body = { a: 1, b: { c: 2, d: 3 }, list: [{ x: 1, y: 2 }, 'odd', { x: 3 }] };
    expect(
      soundPart(body, issues('a', 'b.c', 'list[0].x', 'list[1]', 'missing', 'b.none.deeper', 'list[9].x')),
    ).to.deep.equal({ b: { d: 3 }, list: [{ y: 2 }, undefined, { x: 3 }] });
  });

  it('contains only own properties of the body, whatever fields are called', () => {
    expect(soundPart({ a: 1, 'b.c': 2 }, issues('__proto__.toString', 'constructor.prototype', 'b.c'))).to.deep.equal({
      a: 1,
      'b.c': 2,
    });
    expect({}.toString).to.be.a('function');
  });

  it('is not reported when there are too many errors, nor for a value that is not an object', () => {
    expect(soundPart({ a: 1 }, issues(...Array.from({ length: MAX_ISSUES }, (_, i) => `f${i}`)))).to.equal(undefined);
    expect(soundPart('text', issues('')) ?? soundPart(undefined, [])).to.equal(undefined);
  });

  it('is checked further without repeating errors for a refused value, its parents or its children', () => {
    expect(
      beside(issues('a', 'list[1]', 'b.c'), issues('a', 'a.b', 'ab', 'list', 'list[1].x', 'list[11]', 'b', 'b.d')).map(
        ({ path }) => path,
      ),
    ).to.deep.equal(['ab', 'list[11]', 'b.d']);
    expect(beside(issues(''), issues('a'))).to.deep.equal([]);
  });
});
