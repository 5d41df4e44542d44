let closed = false;
let watching = false;

/**
 * Standard output as a log wants it: when its reader goes away (`toolhub | head`), the hub goes on without it instead
 * of dying of EPIPE. `colour` follows the terminal and its `NO_COLOR`.
 */
export function standardOutput(): { write(line: string): void; colour: boolean } {
  if (!watching) {
    watching = true;
    process.stdout.on('error', () => {
      closed = true;
    });
  }
  return {
    write(line) {
      if (!closed) process.stdout.write(`${line}\n`);
    },
    colour: process.stdout.isTTY && process.stdout.hasColors(),
  };
}

/** The format of a log when none is set: for people on a terminal, for collectors elsewhere. */
export function usualFormat(): 'pretty' | 'json' {
  return process.stdout.isTTY ? 'pretty' : 'json';
}
