import { readFileSync } from 'node:fs'
import { type CatalogueFile, catalogueFile } from '../entry.ts'
import { CatalogueError, linesOf } from '../problem.ts'
import { fromLiteLlm, isLiteLlm } from './litellm.ts'
import { fromModelsDev, isModelsDev } from './models-dev.ts'

type Data = Readonly<Record<string, unknown>>

interface Provenance {
  /** The day the data is of, `2026-11-21`. */
  readonly date: string
  /** Said instead of the name of the publisher. */
  readonly source?: string | undefined
}

/**
 * A catalogue out of a file's text: one of ours, LiteLLM's, or models.dev's. Throws a CatalogueError with a line for
 * each mistake, also when it holds no model at all.
 */
export function readCatalogue(text: string, { date, source }: Provenance): CatalogueFile {
  const data = parsed(text)
  const given = 'format' in data ? data : published(data, { date, source })
  const checked = catalogueFile.safeParse(given)
  if (!checked.success) throw new CatalogueError(linesOf(checked.error))
  if (Object.keys(checked.data.models).length === 0) {
    throw new CatalogueError(['the file has no model of a provider that the gateway knows'])
  }
  return checked.data
}

function parsed(text: string): Data {
  try {
    const data: unknown = JSON.parse(text)
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data as Data
  } catch (error) {
    throw new CatalogueError([`the file is not JSON: ${(error as Error).message}`])
  }
  throw new CatalogueError(['the file is JSON, but not an object'])
}

function published(data: Data, { date, source }: Provenance): unknown {
  const format = 'switchyard-catalogue/1'
  const providers = providerNames()
  if (isLiteLlm(data)) {
    const models = fromLiteLlm(data, providers.litellm ?? {})
    return { format, source: source ?? 'LiteLLM, model_prices_and_context_window.json', date, models }
  }
  if (isModelsDev(data)) {
    const models = fromModelsDev(data, providers['models.dev'] ?? {})
    return { format, source: source ?? 'models.dev, api.json', date, models }
  }
  throw new CatalogueError([
    'the file is neither a catalogue of the gateway nor one that LiteLLM or models.dev publishes',
  ])
}

/** Each publisher's names for the providers. */
function providerNames(): Readonly<Record<string, Readonly<Record<string, string>>>> {
  const file = new URL('../shipped/providers.json', import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, Record<string, string>>
}
