/** Has the browser save a text as a file. */
export function download(name: string, text: string, type = 'text/plain'): void {
  saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

export function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Some browsers begin to read it only after the click is over.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A time that is allowed in the name of a file. */
export function fileTime(now = new Date()): string {
  return now.toISOString().slice(0, 19).replaceAll(':', '-');
}
