import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { apiVersion } from '../../kernel/discovery/manifest.ts'
import { apiReports } from './report.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The folder of the reports in the repository. */
export const reportsFolder = path.join(root, 'docs', 'api')

/** The reports of the contract as the source has it now, by the name of their file. */
export async function currentReports(version = apiVersion): Promise<ReadonlyMap<string, string>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-api-'))
  try {
    const flags = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', folder]
    execFileSync(path.join(root, 'node_modules', '.bin', 'tsc'), flags, { cwd: root, stdio: 'inherit' })
    const reports = [...apiReports(folder, version)]
    return new Map(reports.map(([entry, text]) => [`${entry}.md`, text]))
  } finally {
    await rm(folder, { recursive: true })
  }
}
