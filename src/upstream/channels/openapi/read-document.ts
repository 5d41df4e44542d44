import { upstreamLimits } from '../../limits.ts';
import { type Operations, type Reading, readOperations } from './operations.ts';
import { type Document, own, ownText } from './pointer.ts';

/** What is kept of a document: what it says of itself, and its operations. It can be handed from thread to thread. */
export interface ReadDocument {
  readonly title: string | undefined;
  readonly version: string | undefined;
  readonly description: string | undefined;
  readonly operations: Operations;
}

export async function readDocument(document: Document, reading: Reading): Promise<ReadDocument> {
  const info = own(document, 'info');
  return {
    title: ownText(info, 'title')?.slice(0, 200),
    version: ownText(info, 'version')?.slice(0, 100),
    description: ownText(info, 'description')?.slice(0, upstreamLimits.openapiDescriptionChars),
    operations: await readOperations(document, reading),
  };
}
