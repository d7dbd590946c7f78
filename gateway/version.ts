import { readFileSync } from 'node:fs'

interface Package {
  readonly name?: string
  readonly version?: string
  readonly engines?: { readonly node?: string }
}

/** The package's version. */
export const packageVersion = (): string => packageJson().version ?? '0.0.0'

/** The versions of Node that it runs on, as a range. */
export const runtimeRange = (): string => packageJson().engines?.node ?? '*'

/** The package.json beside the gateway: the repository's, or that of the built files. */
function packageJson(): Package {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as Package
}
