import { expect, test } from 'vitest';
import { httpLimits } from '../limits.ts';
import { iconOf } from './server-icon.ts';

const png = 'data:image/png;base64,iVBORw0KGgo=';

test.each<[what: string, icons: unknown, shown: string | undefined]>([
  ['a picture that is there', [{ src: png }], png],
  ['one behind others', [7, { src: 'https://example.com/a.png' }, { src: png, sizes: ['48x48'] }], png],
  ['an SVG', [{ src: 'data:image/svg+xml;base64,PHN2Zy8+' }], 'data:image/svg+xml;base64,PHN2Zy8+'],
  ['one at another host', [{ src: 'https://example.com/a.png' }], undefined],
  ['a page', [{ src: 'data:text/html;base64,PHA+' }], undefined],
  ['a script', [{ src: 'javascript:alert(1)' }], undefined],
  ['one that goes on with something else', [{ src: `${png}" onerror="x` }], undefined],
  ['one that is too large', [{ src: png.padEnd(httpLimits.serverIconChars + 1, 'A') }], undefined],
  ['one behind too many', [...Array.from({ length: httpLimits.serverIcons }, () => ({})), { src: png }], undefined],
  ['no list', { src: png }, undefined],
  ['nothing', undefined, undefined],
])('of the icons of a server, %s', (_, icons, shown) => {
  expect(iconOf({ icons })).toBe(shown);
});
