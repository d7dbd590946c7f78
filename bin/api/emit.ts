import { fileURLToPath } from 'node:url'
import { apiVersion } from '../../kernel/discovery/manifest.ts'
import { compileSources } from '../compile.ts'
import { apiReports } from './report.ts'

/** The folder of the reports in the repository. */
export const reportsFolder = fileURLToPath(new URL('../../docs/api', import.meta.url))

/** The reports of the contract as the source has it now, by the name of their file. `npm run check` looks for errors of types. */
export async function currentReports(version = apiVersion): Promise<ReadonlyMap<string, string>> {
  const reports = [...apiReports(await compileSources({ isChecked: true }), version)]
  return new Map(reports.map(([entry, text]) => [`${entry}.md`, text]))
}
