import { execFileSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { apiVersion } from '../kernel/discovery/manifest.ts'
import { currentReports, reportsFolder } from './api/emit.ts'
import { samePromise, versionFor, versionOf } from './api/version.ts'

/**
 * Writes the reports of the contract. Where it promises something else than at the last commit, its version goes up:
 * by a minor one, or with `--major` when something that plugins use has changed its meaning or is gone.
 */
const { values } = parseArgs({ options: { major: { type: 'boolean', default: false } } })

const reports = await currentReports()
const last = new Map([...reports.keys()].map((name) => [name, committed(name)] as const))
const [first = ''] = last.values()
const version = versionFor(
  { last: versionOf(first), now: apiVersion, changed: !samePromise(reports, last) },
  values.major ? 'major' : 'minor',
)

if (version !== apiVersion) {
  const manifest = path.resolve(reportsFolder, '../../kernel/discovery/manifest.ts')
  const source = await readFile(manifest, 'utf8')
  await writeFile(
    manifest,
    source.replace(`apiVersion = '${apiVersion}'`, () => `apiVersion = '${version}'`),
  )
}
await mkdir(reportsFolder, { recursive: true })
for (const [name, text] of reports)
  await writeFile(
    path.join(reportsFolder, name),
    text.replace(`Contract ${apiVersion}.`, `Contract ${version}.`),
  )
console.log(`Contract ${version}${version === apiVersion ? '' : `, up from ${apiVersion}`}.`)

/** A report as it was at the last commit; empty when there was none. */
function committed(name: string): string {
  try {
    return execFileSync('git', ['show', `HEAD:./${name}`], {
      cwd: reportsFolder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return ''
  }
}
