import { existsSync } from 'node:fs'
import { setPriority } from 'node:os'
import { parseArgs } from 'node:util'
import { chooseTests, listSources } from './files.ts'
import { mutantsOf } from './mutants.ts'
import { isAlive, type Reported, type Result, report } from './report.ts'
import { lookAt, testMutants } from './schedule.ts'
import { startSession } from './session.ts'
import { knownResults } from './stored.ts'
import { refusedByTypes } from './types.ts'

/**
 * Changes the code of a folder in small ways, one at a time, and runs the tests that reach the change: those that survive
 * show what no test sees. Writes `.mutate/<folder>.json` and prints the survivors; fails when too many survive.
 */

const usage = `npm run mutate -- <folder or file> [options]
  --tests <file or folder>  these tests, instead of those beside the code; may be repeated
  --only <pattern>          only tests whose names match this regular expression
  --longest <ms>            leaves out tests that take longer
  --jobs <n>                processes, 1 unless told
  --fresh                   forgets what the last run found
  --no-types                does not ask the type checker about survivors, which takes a while`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  allowNegative: true,
  options: {
    tests: { type: 'string', multiple: true },
    only: { type: 'string' },
    longest: { type: 'string', default: 'Infinity' },
    jobs: { type: 'string', default: '1' },
    fresh: { type: 'boolean', default: false },
    types: { type: 'boolean', default: true },
  },
})

async function main(folder: string): Promise<boolean> {
  const [sources, tests] = [
    await mutantsOf(await listSources(folder)),
    await chooseTests(folder, values.tests),
  ]
  const mutants = sources.flatMap((source) => source.mutants)
  const known = values.fresh ? new Map<string, Result>() : await knownResults(folder, tests)
  const open = mutants.filter(({ key }) => !known.has(key))
  say(
    `${mutants.length} mutants in ${sources.length} files, ${mutants.length - open.length} known from the last run`,
  )
  const results = new Map<string, Result>()
  if (open.length > 0) {
    const jobs = Array.from({ length: Number(values.jobs) })
    const sessions = await Promise.all(jobs.map(() => startSession(sources, values.only)))
    try {
      const seen = await lookAt(sessions[0]!, tests, Number(values.longest), say)
      for (const [id, result] of await testMutants(sessions, open, seen, progress, say))
        results.set(id, result)
    } finally {
      await Promise.all(sessions.map((session) => session.close()))
    }
  }
  const reported = mutants.map((mutant): Reported => {
    return { ...mutant, ...(known.get(mutant.key) ?? results.get(mutant.id) ?? { status: 'unreached' }) }
  })
  const refused = new Set(values.types ? await refusedByTypes(sources, reported.filter(isAlive)) : [])
  const judged = reported.map((one): Reported => (refused.has(one.id) ? { ...one, status: 'refused' } : one))
  return report(folder, judged, tests)
}

const isTerminal = process.stderr.isTTY

function say(text: string): void {
  process.stderr.write(`${isTerminal ? '\r\x1b[K' : ''}${text}\n`)
}

let told = 0

/** On a terminal one line that changes, elsewhere a line for each hundred runs. */
function progress({ runs, of, killed }: { runs: number; of: number; killed: number }): void {
  const text = `${runs} of ${of} runs, ${killed} killed`
  if (isTerminal) process.stderr.write(`\r\x1b[K${text}`)
  else if (Math.floor(runs / 100) > told) {
    told = Math.floor(runs / 100)
    process.stderr.write(`${text}\n`)
  }
}

const [folder] = positionals
if (folder === undefined || !existsSync(folder)) {
  console.error(usage)
  process.exitCode = 1
} else {
  // Others work on this machine as well.
  setPriority(10)
  process.exitCode = (await main(folder.replace(/\/$/, ''))) ? 0 : 1
}
