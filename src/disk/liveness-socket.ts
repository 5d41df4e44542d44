import { connect, createServer } from 'node:net';
import { basename } from 'node:path';
import { diskLimits } from './limits.ts';

/**
 * A socket in a shared folder that answers as long as its process runs: also to another container, which cannot see the
 * process itself.
 */
export interface LivenessSocket {
  /**
   * Its file's name; empty when there could be none: the path may be too long, the file system may not know sockets.
   */
  readonly name: string;
  /** Removes the file too. */
  close(): void;
}

/** Listens at this path for no other purpose than to be found alive. Keeps no process running. */
export function openLivenessSocket(path: string): Promise<LivenessSocket> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.on('error', () => {}).end());
    server.unref();
    server.on('error', () => resolve({ name: '', close: () => {} }));
    server.listen(path, () => resolve({ name: basename(path), close: () => server.close() }));
  });
}

/** Whether a process listens there. Only a refusal, or no such file, counts as a no. */
export function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.setTimeout(diskLimits.lockAnswerMs, () => socket.destroy(new Error('No answer')));
    socket.on('connect', () => socket.end(() => resolve(true)));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT');
    });
  });
}
