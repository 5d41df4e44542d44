/** What a function gives, and how many texts it has parsed as JSON. It ends before it returns. */
export function countingParsed<T>(run: () => T): { result: T; parsed: number } {
  const parse = JSON.parse;
  let parsed = 0;
  JSON.parse = (...given: Parameters<typeof parse>) => {
    parsed += 1;
    return parse(...given) as unknown;
  };
  try {
    const result = run();
    return { result, parsed };
  } finally {
    JSON.parse = parse;
  }
}
