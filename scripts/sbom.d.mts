export interface Component {
  readonly name: string;
  readonly version: string;
  readonly scope: string;
  readonly 'bom-ref': string;
  readonly properties: readonly { readonly name: string }[];
}
export interface BillOfMaterials {
  readonly bomFormat: string;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}
export function billOfMaterials(): BillOfMaterials;
export function bundled(): Set<string>;
