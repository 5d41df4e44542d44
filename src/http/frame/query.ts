import { invalid } from '../../core/input.ts';

/**
 * A switch in the query: `true` or `1`, `false`, `0` or absent; present without a value it is on. Throws HubError
 * `invalid_input`.
 */
export function flagOf(query: Readonly<Record<string, string>>, name: string): boolean {
  switch (query[name]) {
    case undefined:
    case 'false':
    case '0':
      return false;
    case '':
    case 'true':
    case '1':
      return true;
    default:
      throw invalid('Cannot read the query', [{ path: name, message: 'must be true or false' }]);
  }
}
