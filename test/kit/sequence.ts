import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';

/** Known to take longest; begun first, so that no worker is left alone with one at the end. */
const longest = [
  'surfaces-postgres.test.ts',
  'process.test.ts',
  'workers.test.ts',
  'surfaces-smart.test.ts',
  'installs.test.ts',
  'pressure.test.ts',
  'records-database.test.ts',
  'hostile-servers.test.ts',
  'young-objects.test.ts',
  'large-results.test.ts',
  'api-fuzz-postgres.test.ts',
  'audit.test.ts',
  'surfaces.test.ts',
];

/** Where one project has all of them: what begins first. The many short ones are last, and keep every worker busy. */
const kinds = [/\/test\/(?!browser\/)/, /\/test\/browser\//];

/** Project after project, since a worker can only go on with files of its own project. */
export class groupedByProject extends BaseSequencer {
  override async sort(specs: TestSpecification[]): Promise<TestSpecification[]> {
    const place = new Map((await super.sort(specs)).map((spec, index) => [spec, index]));
    const projects = this.ctx.projects.map(({ name }) => name);
    const kind = ({ moduleId }: TestSpecification) => {
      const found = kinds.findIndex((one) => one.test(moduleId));
      return found < 0 ? kinds.length : found;
    };
    const rank = ({ moduleId }: TestSpecification) => {
      const found = longest.findIndex((name) => moduleId.endsWith(`/${name}`));
      return found < 0 ? longest.length : found;
    };
    return specs.toSorted(
      (a, b) =>
        projects.indexOf(a.project.name) - projects.indexOf(b.project.name) ||
        kind(a) - kind(b) ||
        rank(a) - rank(b) ||
        (place.get(a) ?? 0) - (place.get(b) ?? 0),
    );
  }
}
