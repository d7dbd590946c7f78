import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { Capability, Log, ModelCatalogue, ModelDescription } from '#kernel'
import type { CatalogueFile, ModelEntry } from './catalogue/entry.ts'
import { findOverride } from './catalogue/overrides.ts'
import { CatalogueError } from './catalogue/problem.ts'
import { readCatalogue } from './catalogue/sources/read.ts'
import type { ModelEntries } from './sections.ts'

/** A model as one catalogue has it. */
export interface CatalogueModel {
  /** `openai/gpt-4o`, as the catalogue names it. */
  readonly id: string
  readonly entry: ModelEntry
  /** Whether the operator has loaded it, and it did not come with the gateway. */
  readonly loaded: boolean
  /** The publisher of the data and its date. */
  readonly origin: string
}

export interface CatalogueOptions {
  readonly dataDir: string
  /** By `provider/model`, where a model may end in `*`. */
  readonly overrides?: ModelEntries
  readonly priceId?: (provider: string) => string
  readonly log?: Pick<Log, 'error' | 'warn'>
  /** Makes what reads the files in this thread into what reads them in all. */
  readonly inEachThread?: (run: () => Promise<void>) => () => Promise<void>
}

/** What `catalogue update` writes, and every start and rescan reads. */
export const catalogueFileOf = (dataDir: string): string => path.join(dataDir, 'catalogue.json')

const shippedFile = new URL('./catalogue/shipped/models.json', import.meta.url)

/** The catalogue that came with this version. */
export function shippedCatalogue(): CatalogueFile {
  return JSON.parse(readFileSync(shippedFile, 'utf8')) as CatalogueFile
}

interface Source {
  readonly models: ReadonlyMap<string, { readonly id: string; readonly entry: ModelEntry }>
  readonly origin: string
  readonly loaded: boolean
}

/** Models, their limits and what they can do: what came with the gateway, and on top what the operator has loaded. */
export class Catalogue implements ModelCatalogue {
  readonly #file: string
  readonly #overrideOf: (name: string) => { value: ModelEntries[string] } | undefined
  readonly #priceId: (provider: string) => string
  readonly #log: Pick<Log, 'error' | 'warn'> | undefined
  #own: CatalogueFile | undefined
  #found: readonly Source[] | undefined
  #edition = 0
  #problem: string | undefined

  private constructor({
    dataDir,
    overrides = {},
    priceId = (name) => name,
    log,
    inEachThread = (run) => run,
  }: CatalogueOptions) {
    this.#file = catalogueFileOf(dataDir)
    this.#overrideOf = findOverride(overrides)
    this.#priceId = priceId
    this.#log = log
    this.rescan = inEachThread(() => this.#read())
  }

  static async open(options: CatalogueOptions): Promise<Catalogue> {
    const catalogue = new Catalogue(options)
    await catalogue.#read()
    return catalogue
  }

  /** Changes whenever the models may be others. */
  get edition(): number {
    return this.#edition
  }

  /** Why what the operator has loaded is not in use. */
  get problem(): string | undefined {
    return this.#problem
  }

  /** The sources in use, the overriding one first. */
  get origins(): readonly { readonly origin: string; readonly models: number }[] {
    return this.#sources().map(({ origin, models }) => ({ origin, models: models.size }))
  }

  /** Reads the files anew, in all threads. */
  readonly rescan: () => Promise<void>

  /** A loaded file that is broken is left out, with its reason in the log and in `problem`. */
  async #read(): Promise<void> {
    this.#own = await this.#loaded()
    this.#found = undefined
    this.#edition += 1
    if (!this.#own) return
    const { date } = shippedCatalogue()
    if (this.#own.date < date) {
      this.#log?.warn(
        { loaded: this.#own.date, shipped: date },
        'the loaded catalogue is older than the one of this version, and outweighs it: run catalogue update again, or ' +
          'remove catalogue.json from the data folder',
      )
    }
  }

  /**
   * The overriding one first. They become tables when a model is first asked for: an idle gateway does without the
   * one that came with it.
   */
  #sources(): readonly Source[] {
    this.#found ??= [...(this.#own ? [sourceOf(this.#own, true)] : []), sourceOf(shippedCatalogue(), false)]
    return this.#found
  }

  /** A model by the provider's name here, else by the one under which the price data knows it. */
  find(provider: string, priceId: string, model: string): CatalogueModel | undefined {
    const names = [`${provider}/${model}`.toLowerCase(), `${priceId}/${model}`.toLowerCase()]
    for (const { models, origin, loaded } of this.#sources()) {
      for (const name of names) {
        const found = models.get(name)
        if (found) return { ...found, origin, loaded }
      }
    }
    return undefined
  }

  lists(provider: string, priceId: string, model: string): boolean {
    return this.find(provider, priceId, model) !== undefined
  }

  /** The known facts of a model of a provider; undefined when there are none. */
  describe(provider: string, model: string): ModelDescription | undefined {
    const found = this.find(provider, this.#priceId(provider), model)
    const said = this.#overrideOf(`${provider}/${model}`)?.value
    if (!found && !said) return undefined
    return {
      operation: found?.entry.operation,
      contextWindow: said?.contextWindow ?? found?.entry.context_window,
      maxOutputTokens: said?.maxOutputTokens ?? found?.entry.max_output_tokens,
      capabilities: { ...found?.entry.capabilities, ...said?.capabilities },
      retiresOn: found?.entry.retires_on,
      origin: [...(said ? ['service.yaml'] : []), ...(found ? [found.origin] : [])].join('; '),
    }
  }

  /** Whether a model can do something; undefined when that is not known. */
  supports(provider: string, model: string, capability: Capability): boolean | undefined {
    return this.describe(provider, model)?.capabilities[capability]
  }

  async #loaded(): Promise<CatalogueFile | undefined> {
    this.#problem = undefined
    try {
      return readCatalogue(await readFile(this.#file, 'utf8'), { date: '' })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      if (!(error instanceof CatalogueError) && !(error instanceof Error && 'errno' in error)) throw error
      this.#problem = `catalogue.json in the data folder is not used: ${error.message}`
      this.#log?.error(
        { problem: this.#problem },
        'the loaded catalogue is broken; run catalogue update again',
      )
      return undefined
    }
  }
}

function sourceOf({ models, source, date }: CatalogueFile, loaded: boolean): Source {
  const byName = Object.entries(models).map(([id, entry]) => [id.toLowerCase(), { id, entry }] as const)
  return { models: new Map(byName), origin: `${source}, of ${date}`, loaded }
}
