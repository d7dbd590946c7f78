import type { Manifest } from '../../../../kernel/discovery/manifest.ts'
import { explain } from '../../../../kit/explain.ts'
import type { Mode } from '../../../../test/conformance/example.ts'
import { idOf } from '../../../../test/plugin-dirs.ts'
import { startUpstream, type Upstream } from '../../../../test/upstream/index.ts'
import type { News } from './news.ts'
import { firstSample, modelFor, type Sample, typedSample } from './sample.ts'
import { type Trial, tryOut } from './trial.ts'
import { TriedGateway } from './tried-gateway.ts'

type Tell = (news: News) => void

/** A plugin at work: loads it, tries calls on it, and tells what came of it. One thing at a time. */
export class Workbench {
  readonly #folder: string
  readonly #manifest: Manifest
  readonly #tell: Tell
  readonly #upstream: Upstream
  readonly #without: TriedGateway
  readonly #with: TriedGateway
  readonly #measured: TriedGateway
  #sample: Sample | undefined
  #hasLoaded = false

  static async start(folder: string, manifest: Manifest, tell: Tell): Promise<Workbench> {
    const upstream = await startUpstream()
    const isProvider = manifest.kind === 'provider'
    const [without, withIt, measured] = await Promise.all([
      TriedGateway.start(upstream),
      TriedGateway.start(upstream, folder, isProvider),
      TriedGateway.start(upstream, folder, isProvider),
    ])
    return new Workbench(folder, manifest, tell, upstream, [without, withIt, measured])
  }

  private constructor(
    folder: string,
    manifest: Manifest,
    tell: Tell,
    upstream: Upstream,
    [without, withIt, measured]: [TriedGateway, TriedGateway, TriedGateway],
  ) {
    this.#folder = folder
    this.#manifest = manifest
    this.#tell = tell
    this.#upstream = upstream
    this.#without = without
    this.#with = withIt
    this.#measured = measured
  }

  /** Takes in what lies in the folder and tries the last call on it; whether it runs. */
  async load(): Promise<boolean> {
    const began = performance.now()
    const problem = (await this.#renamed()) ?? (await this.#taken())
    if (problem !== undefined) {
      this.#tell({ event: 'refused', problem, runs_on: this.#hasLoaded })
      return false
    }
    this.#hasLoaded = true
    this.#tell({ event: 'loaded', ms: Math.round(performance.now() - began) })
    const model = modelFor(this.#manifest.id, this.#manifest.kind)
    const isTyped = this.#sample !== undefined && this.#sample.config === undefined
    await this.#try(isTyped ? this.#sample! : await firstSample(this.#folder, model))
    return true
  }

  async #taken(): Promise<string | undefined> {
    const { requires } = this.#manifest
    return (await this.#with.load(requires)) ?? (await this.#measured.load(requires))
  }

  /** A plugin is known by its id, under which it was linked. */
  async #renamed(): Promise<string | undefined> {
    const id = await idOf(this.#folder)
    return id === this.#manifest.id
      ? undefined
      : `its id changed from ${this.#manifest.id} to ${id}: restart the command`
  }

  /** Tries a typed message, or a typed request as JSON. */
  async type(line: string): Promise<void> {
    try {
      await this.#try(typedSample(line, modelFor(this.#manifest.id, this.#manifest.kind)))
    } catch (error) {
      this.#tell({ event: 'problem', problem: `The call could not be made: ${explain(error)}` })
    }
  }

  async close(): Promise<void> {
    await Promise.all([this.#without.close(), this.#with.close(), this.#measured.close()])
    await this.#upstream.close()
  }

  async #try(sample: Sample): Promise<void> {
    this.#sample = sample
    if (sample.config !== undefined && this.#manifest.kind === 'module') {
      const problem =
        (await this.#with.configure(sample.config)) ?? (await this.#measured.configure(sample.config))
      if (problem !== undefined) return this.#tell({ event: 'problem', problem })
    }
    const gateways = {
      id: this.#manifest.id,
      without: this.#without,
      with: this.#with,
      measured: this.#measured,
    }
    const modes: Partial<Record<Mode, Trial>> = {}
    for (const mode of sample.modes) modes[mode] = await tryOut(gateways, sample, mode)
    this.#tell({ event: 'call', title: sample.title, modes, routes: await this.#with.routes() })
  }
}
