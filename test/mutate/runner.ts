import { appendFileSync, readFileSync } from 'node:fs'
import type { EvaluatedModules } from 'vite/module-runner'
import { type RunnerTestCase, type RunnerTestFile, TestRunner, type TestRunnerConfig } from 'vitest'
import type { Hits, Line, Outcome, Plan, Run, Seen, SeenTest } from './plan.ts'

/** What the instrumented code reads and writes. */
interface Switch {
  activeMutant: string | undefined
  currentTestId: string | undefined
  hitCount: number
  hitLimit: number
  mutantCoverage: { static: Record<string, number>; perTest: Record<string, Record<string, number>> }
}

const its: Switch = {
  activeMutant: undefined,
  currentTestId: undefined,
  hitCount: 0,
  hitLimit: Number.POSITIVE_INFINITY,
  mutantCoverage: { static: {}, perTest: {} },
}
Object.assign(globalThis, { __stryker__: its })

const plan = JSON.parse(readFileSync(process.env.MUTATE_PLAN!, 'utf8')) as Plan

const write = (line: Line): void => appendFileSync(plan.out, `${JSON.stringify(line)}\n`)

const tickMs = 100

/** Milliseconds for a hook beside a mutant. */
const hookLimit = 30_000

/**
 * Runs the files of a plan one after the other in one process, each with its mutant switched on: what they import stays
 * imported, so that a run costs what its tests cost. The first test that fails ends a run.
 */
export default class MutantRunner extends TestRunner {
  #at = -1
  #run: Run = { file: '' }
  #began = 0
  #killedBy: string | undefined
  #timedOut = false
  /** What was seen of the file that runs. */
  #imports: Hits = {}
  #tests: SeenTest[] = []
  /** Sources that hold a mutant's state until they are read anew. */
  #stale: string | undefined
  readonly #killed = new Set<string>()
  /** A test that did not end may still be at work: another process goes on. */
  #isOver = false

  constructor(config: TestRunnerConfig) {
    super(config)
    write({ pid: process.pid })
    const fail = (error: unknown): void => this.#fail(`outside of a test: ${String(error)}`)
    process.on('uncaughtException', fail)
    process.on('unhandledRejection', fail)
  }

  #fail(name: string): void {
    if (this.#run.mutant !== undefined) this.#killedBy ??= name
  }

  get #skips(): boolean {
    return this.#isOver || (this.#run.mutant !== undefined && this.#killed.has(this.#run.mutant))
  }

  onBeforeCollect(): void {
    this.#run = plan.runs[++this.#at]!
    this.#began = performance.now()
    this.#killedBy = undefined
    this.#timedOut = false
    this.#tests = []
    if (this.#skips) return
    this.config.hookTimeout = this.#run.limits ? hookLimit : 60_000
    write({ began: this.#at })
    this.#readAnew()
    Object.assign(its, {
      activeMutant: this.#run.mutant,
      currentTestId: undefined,
      hitCount: 0,
      hitLimit: this.#run.hits ?? Number.POSITIVE_INFINITY,
    })
    this.#clearHits()
  }

  /** Forgets the modules that the last mutant or this one is in, and all that import them. */
  #readAnew(): void {
    const stale = [this.#stale, this.#run.reload].filter((file) => file !== undefined)
    this.#stale = this.#run.reload
    if (stale.length === 0) return
    const modules = this.#modules
    const left = stale.flatMap((file) => [...(modules.fileToModulesMap.get(file) ?? [])])
    const seen = new Set(left)
    for (const module of left) {
      module.promise = undefined
      module.exports = undefined
      module.evaluated = false
      for (const id of module.importers) {
        const importer = modules.idToModuleMap.get(id)
        if (!importer || seen.has(importer) || importer.file.startsWith(import.meta.dirname)) continue
        seen.add(importer)
        left.push(importer)
      }
    }
  }

  get #modules(): EvaluatedModules {
    return (Reflect.get(this, 'workerState') as { evaluatedModules: EvaluatedModules }).evaluatedModules
  }

  /** The code holds on to the objects, so these stay and only what is in them goes. */
  #clearHits(): void {
    const { static: all, perTest } = its.mutantCoverage
    for (const id of Object.keys(all)) delete all[id]
    for (const id of Object.keys(perTest)) delete perTest[id]
  }

  override importFile(file: string, source: 'collect' | 'setup'): unknown {
    return this.#skips ? undefined : super.importFile(file, source)
  }

  onCollected([file]: RunnerTestFile[]): void {
    if (file!.result?.state === 'fail') this.#fail(`${file!.name}: import`)
    this.#imports = { ...its.mutantCoverage.static }
    this.#clearHits()
  }

  override async onBeforeRunTask(test: RunnerTestCase): Promise<void> {
    const isChosen = this.#run.tests === undefined || this.#run.tests.includes(test.id)
    if (this.#skips || this.#killedBy !== undefined || !isChosen) test.mode = 'skip'
    await super.onBeforeRunTask(test)
  }

  async runTask(test: RunnerTestCase): Promise<void> {
    its.currentTestId = test.id
    const run = TestRunner.getTestFn(test)
    const limit = this.#run.limits?.[test.id]
    try {
      if (limit === undefined) return await run()
      const late = Promise.withResolvers<never>()
      // Counted in ticks, which come late where others use the machine: what waits for its turn does not hang.
      let left = limit
      const timer = setInterval(() => {
        left -= tickMs
        if (left > 0) return
        this.#timedOut = true
        late.reject(new Error('the mutant makes the test hang'))
      }, tickMs)
      await Promise.race([run(), late.promise]).finally(() => clearInterval(timer))
    } finally {
      its.currentTestId = undefined
    }
  }

  override onAfterRunTask(test: RunnerTestCase): void {
    const failed = test.result?.state === 'fail'
    if (failed) this.#fail(nameOf(test))
    if (this.#run.mutant === undefined && test.mode !== 'skip') {
      const hits = { ...its.mutantCoverage.perTest[test.id] }
      this.#tests.push({ id: test.id, name: nameOf(test), ms: test.result?.duration ?? 0, failed, hits })
    }
    super.onAfterRunTask(test)
  }

  override onAfterRunFiles(files: RunnerTestFile[]): void {
    super.onAfterRunFiles(files)
    if (this.#skips) return
    if (files[0]!.result?.state === 'fail') this.#fail(`${files[0]!.name}: hooks`)
    if (files[0]!.result?.errors?.some(({ message }) => message.includes('timed out'))) this.#timedOut = true
    const { mutant } = this.#run
    if (mutant !== undefined && this.#killedBy !== undefined) this.#killed.add(mutant)
    const outcome: Outcome = {
      ...(this.#killedBy === undefined ? {} : { killedBy: this.#killedBy, timedOut: this.#timedOut }),
      ms: performance.now() - this.#began,
      ...(mutant === undefined ? { seen: this.#seen(files[0]!) } : {}),
    }
    its.activeMutant = undefined
    write({ ended: this.#at, ...outcome })
    if (this.#timedOut) {
      this.#isOver = true
      write({ over: this.#at })
    }
  }

  #seen(file: RunnerTestFile): Seen {
    const sources = new Set(plan.sources)
    const reached = [...this.#importedBy(file.filepath)].filter((name) => sources.has(name))
    const hooks = { ...its.mutantCoverage.static }
    return { tests: this.#tests, imports: this.#imports, hooks, sources: reached }
  }

  #importedBy(file: string): Set<string> {
    const modules = this.#modules
    const files = new Set([file])
    for (const one of files)
      for (const module of modules.fileToModulesMap.get(one) ?? [])
        for (const id of module.imports) {
          const imported = modules.idToModuleMap.get(id)
          if (imported) files.add(imported.file)
        }
    return files
  }
}

const nameOf = (test: RunnerTestCase): string => `${test.file.name} > ${test.name}`
