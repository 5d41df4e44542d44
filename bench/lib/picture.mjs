// A curve as a picture (SVG), without a library.
const width = 720;
const height = 150;
const left = 70;

/** One strip below the other: `points` have `seconds`, `rssMb`, `handles` and `threads`. */
export function curveOf(points) {
  const strips = [
    ['memory, MB', ({ rssMb }) => rssMb],
    ['open files', ({ handles }) => handles],
    ['threads', ({ threads }) => threads],
  ];
  const last = points.at(-1)?.seconds ?? 1;
  const drawn = strips.map(([name, pick], i) =>
    strip(
      name,
      points.map((point) => [point.seconds / last, pick(point)]),
      i,
    ),
  );
  const whole = height * strips.length + 30;
  const axis = `<text x="${left}" y="${whole - 8}">0 s</text><text x="${width - 10}" y="${whole - 8}" text-anchor="end">${Math.round(last)} s</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${whole}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
${drawn.join('\n')}
${axis}
</svg>
`;
}

function strip(name, values, i) {
  const top = i * height + 24;
  const room = height - 40;
  const most = Math.max(1, ...values.map(([, value]) => value)) * 1.1;
  const at = ([x, value]) =>
    `${(left + x * (width - left - 10)).toFixed(1)},${(top + room * (1 - value / most)).toFixed(1)}`;
  return `<text x="${left}" y="${top - 8}">${name}</text>
<text x="${left - 6}" y="${top + 10}" text-anchor="end">${Math.round(most)}</text><text x="${left - 6}" y="${top + room}" text-anchor="end">0</text>
<path d="M${left},${top}V${top + room}H${width - 10}" fill="none" stroke="#999"/>
<polyline points="${values.map(at).join(' ')}" fill="none" stroke="#2563eb" stroke-width="1.5"/>`;
}
