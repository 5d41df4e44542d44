// What this server offers changes while it runs: one tool and one prompt come and go, one resource is updated. The
// state belongs to the process, because a new-era server has nothing that outlives a request.
import { EventEmitter } from 'node:events';

/**
 * `'tools' | 'prompts'`: the list changed. `'resource'`: the resource with the URI that is the event's argument did.
 */
export const changed = new EventEmitter().setMaxListeners(0);

/** Whether the tool and the prompt that come and go are here. */
export const present = { tools: false, prompts: false };

/** Lets the tool (`'tools'`) or the prompt (`'prompts'`) come if it is away, and go if it is here. */
export function toggle(list) {
  present[list] = !present[list];
  changed.emit(list);
}

export const watched = { uri: 'test://watched-resource', version: 1 };

export function updateWatched() {
  watched.version += 1;
  changed.emit('resource', watched.uri);
}
