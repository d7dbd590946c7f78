import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { failedFiles } from './failed.ts'

/** More files than these do not fail by chance. */
const most = 5

/**
 * Runs the files that failed once more, one after the other and with nothing beside them: in CI a busy neighbour may not refuse a
 * change. Whole files, as a test that failed may have left behind what the others of its file stand on. Ends with the status of that run.
 */
const files: readonly string[] = JSON.parse(readFileSync(failedFiles, 'utf8'))
if (files.length === 0 || files.length > most) process.exit(1)
console.log(`\nThese failed, and run again by themselves:\n  ${files.join('\n  ')}\n`)
const { status } = spawnSync('npx', ['vitest', 'run', '--maxWorkers=1', ...files], { stdio: 'inherit' })
process.exit(status ?? 1)
