/** A text with every place marked where `q` stands, in upper or lower case. */
export function Marked({ text, q }: { readonly text: string; readonly q: string }) {
  if (q === '') return text;
  const parts: { readonly at: number; readonly text: string; readonly hit: boolean }[] = [];
  const where = text.toLowerCase();
  // Lower case may be longer (İ): then places in it are not those in the text.
  if (where.length !== text.length) return text;
  let from = 0;
  for (let at = where.indexOf(q.toLowerCase()); at !== -1; at = where.indexOf(q.toLowerCase(), from)) {
    parts.push({ at: from, text: text.slice(from, at), hit: false });
    from = at + q.length;
    parts.push({ at, text: text.slice(at, from), hit: true });
  }
  parts.push({ at: text.length, text: text.slice(from), hit: false });
  return parts.map(({ at, text, hit }) =>
    hit ? (
      <mark key={`${at} hit`} className="bg-warn-wash text-warn rounded-xs">
        {text}
      </mark>
    ) : (
      <span key={`${at} plain`}>{text}</span>
    ),
  );
}
