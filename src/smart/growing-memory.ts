/** A `WebAssembly.Memory`: pages of 64 KiB. Growing it makes a new `buffer` and detaches the old one. */
export interface ByteMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** The part of the standard interface that is used here; the types of Node.js leave it to those of the browser. */
export interface WebAssemblyApi {
  Memory: new (size: { initial: number }) => ByteMemory;
  Module: new (bytes: Uint8Array) => object;
  Instance: new (
    module: object,
    imports: { hub: { memory: ByteMemory } },
  ) => { exports: { run: (...given: number[]) => void } };
}

declare const WebAssembly: WebAssemblyApi | undefined;

/** Undefined where there is none (`--jitless`). */
export function webAssembly(): WebAssemblyApi | undefined {
  return typeof WebAssembly === 'undefined' ? undefined : WebAssembly;
}

/**
 * Memory that grows where it is. An array that is copied to a longer one each time leaves all the shorter ones behind,
 * which are five times as large together, and the C library keeps what they took.
 */
export function growingMemory(): ByteMemory {
  const wasm = webAssembly();
  try {
    if (wasm) return new wasm.Memory({ initial: 1 });
  } catch {
    // The process may not reserve as many addresses.
  }
  return copiedMemory();
}

export const pageBytes = 65_536;

/** The same by copying. */
export function copiedMemory(): ByteMemory {
  let buffer = new ArrayBuffer(pageBytes);
  return {
    get buffer() {
      return buffer;
    },
    grow(pages) {
      const before = buffer;
      buffer = new ArrayBuffer(before.byteLength + pages * pageBytes);
      new Uint8Array(buffer).set(new Uint8Array(before));
      return before.byteLength / pageBytes;
    },
  };
}
