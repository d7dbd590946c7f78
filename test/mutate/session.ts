import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createVitest, type TestSpecification, type Vitest } from 'vitest/node'
import type { Source } from './mutants.ts'
import type { Line, Outcome, Plan, Run } from './plan.ts'

/** Runs plans in processes of their own, where the sources have their mutants in them. */
export interface Session {
  /**
   * Calls `told` for each run as it ends. A run whose process had to be killed is one that timed out; of a mutant that was
   * killed no further runs are made.
   */
  run(runs: readonly Run[], told: (run: Run, outcome: Outcome) => void): Promise<void>
  close(): Promise<void>
}

class AsGiven {
  sort(files: TestSpecification[]): TestSpecification[] {
    return files
  }

  shard(files: TestSpecification[]): TestSpecification[] {
    return files
  }
}

/** Milliseconds that a run may take beyond its tests' limits: for imports and hooks. */
const grace = 15_000

/** With `only`, a regular expression, tests of other names are not run. */
export async function startSession(sources: readonly Source[], only?: string): Promise<Session> {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-mutate-'))
  const plan = path.join(folder, 'plan.json')
  const instrumented = new Map(sources.map((source) => [path.resolve(source.file), source.instrumented]))
  const vitest = await createVitest(
    'test',
    {
      watch: false,
      reporters: [{}],
      ...(only !== undefined && { testNamePattern: only }),
      silent: true,
      fsModuleCache: false,
      update: false,
      pool: 'forks',
      maxWorkers: 1,
      fileParallelism: false,
      isolate: false,
      runner: path.join(import.meta.dirname, 'runner.ts'),
      sequence: { sequencer: AsGiven as never },
      // Properties are tried a quarter as often, which a mutant seldom survives that the whole number would kill.
      env: { MUTATE_PLAN: plan, PROPERTY_RUNS: process.env.PROPERTY_RUNS ?? '0.25' },
      // What never comes is not waited for as long as on a machine that is only slow.
      expect: { poll: { timeout: 3_000 } },
    },
    {
      plugins: [
        {
          name: 'mutants',
          enforce: 'pre',
          load: (id: string) => instrumented.get(id),
        },
      ],
    },
  )
  let n = 0
  return {
    async run(runs, told) {
      const killed = new Set<string>()
      const tell = (run: Run, outcome: Outcome): void => {
        if (run.mutant !== undefined && outcome.killedBy !== undefined) killed.add(run.mutant)
        told(run, outcome)
      }
      const isLeft = ({ mutant }: Run): boolean => mutant === undefined || !killed.has(mutant)
      let left = runs
      for (; left.length > 0; n++) {
        const out = path.join(folder, `${n}.jsonl`)
        await writeFile(out, '')
        await writeFile(
          plan,
          JSON.stringify({ runs: left, out, sources: [...instrumented.keys()] } satisfies Plan),
        )
        left = (await attempt(vitest, left, out, tell)).filter(isLeft)
      }
    },
    async close() {
      await vitest.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Runs as much as one process can; what is left is for the next. */
async function attempt(
  vitest: Vitest,
  runs: readonly Run[],
  out: string,
  told: (run: Run, outcome: Outcome) => void,
): Promise<readonly Run[]> {
  let pid: number | undefined
  let read = 0
  let next = 0
  let since = performance.now()
  let running: number | undefined
  const look = async (): Promise<void> => {
    const lines = (await readFile(out, 'utf8')).split('\n').slice(0, -1)
    for (const text of lines.slice(read)) {
      const line = JSON.parse(text) as Line
      since = performance.now()
      if ('pid' in line) pid = line.pid
      else if ('began' in line) running = line.began
      else if ('ended' in line) {
        const { ended, ...outcome } = line
        told(runs[ended]!, outcome)
        running = undefined
        next = ended + 1
      }
    }
    read = lines.length
  }
  const watch = setInterval(async () => {
    await look()
    if (running === undefined || pid === undefined) return
    const { limits } = runs[running]!
    const most = limits ? Math.max(0, ...Object.values(limits)) * 2 + grace : grace * 20
    if (performance.now() - since < most) return
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended by itself, and the runner is about to notice.
    }
    pid = undefined
  }, 500)
  const project = vitest.projects[0]!
  const files = runs.map(({ file }) => project.createSpecification(path.resolve(file)))
  await vitest.runTestSpecifications(files).catch(() => undefined)
  clearInterval(watch)
  await look()
  process.exitCode = 0
  if (running === undefined) {
    if (next === 0)
      throw new Error(`no test ran: ${vitest.state.getUnhandledErrors().map(String).join(', ')}`)
    return runs.slice(next)
  }
  told(runs[running]!, { killedBy: 'the process hangs or ends', timedOut: true, ms: 0 })
  return runs.slice(running + 1)
}
