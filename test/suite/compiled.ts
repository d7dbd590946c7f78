import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'

/** Where Node keeps what it has compiled: processes and workers that tests start find there what others left. */
export const compiled = path.resolve('node_modules/.cache/compiled')

/** Far more than the project and its packages have. The rest is of plugins of tests, which are gone with their test. */
const mostFiles = 20_000

/** Begins anew with what is compiled when too much of it is of no use to anybody. */
export default async function setup(): Promise<void> {
  const files = await readdir(compiled, { recursive: true }).catch(() => [])
  if (files.length > mostFiles) await rm(compiled, { recursive: true, force: true })
}
