/**
 * What is used of the instrumenter. Its own types bring those of Babel with them, and only `npm run mutate` needs the
 * package: the rest of the project is checked without it.
 */
declare module '@stryker-mutator/instrumenter' {
  interface Position {
    /** From 0. */
    readonly line: number
    readonly column: number
  }

  interface Mutant {
    readonly id: string
    readonly mutatorName: string
    readonly replacement: string
    readonly location: { readonly start: Position; readonly end: Position }
    readonly status?: string
  }

  interface Options {
    readonly ignorers: readonly { shouldIgnore(path: NodePath): string | undefined }[]
    readonly excludedMutations: readonly string[]
    readonly plugins: readonly string[] | null
  }

  export interface NodePath {
    readonly node:
      | { readonly type: 'StringLiteral'; readonly value: string }
      | {
          readonly type: 'TemplateLiteral'
          readonly quasis: readonly { readonly value: { readonly raw: string } }[]
        }
      | { readonly type: 'other' }
  }

  export class Instrumenter {
    constructor(logger: object)
    instrument(
      files: readonly { readonly name: string; readonly content: string; readonly mutate: boolean }[],
      options: Options,
    ): Promise<{
      readonly files: readonly { readonly content: string }[]
      readonly mutants: readonly Mutant[]
    }>
  }
}
