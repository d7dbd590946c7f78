import type { Manifest } from '../../../../kernel/discovery/manifest.ts'
import {
  bodyOf,
  type Example,
  exampleSchema,
  type Mode,
  readExamples,
} from '../../../../test/conformance/example.ts'
import type { Script } from '../../../../test/upstream/index.ts'

/** A call that is tried, whole and streamed, and how the mock provider answers it. */
export interface Sample {
  /** The sample's purpose, for people. */
  readonly title: string
  /** Settings of the plugin; those that it has stay where a sample names none. */
  readonly config: Record<string, unknown> | undefined
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly modes: readonly Mode[]
  body(mode: Mode): string
  /** One for each request that reaches the provider; it echoes the last message where there is none. */
  readonly scripts: readonly Script[]
}

const greeting = 'Hello, who are you?'

/** The first of the plugin's own examples, or a greeting where it has none that can be read. */
export async function firstSample(folder: string, model: string): Promise<Sample> {
  try {
    const [example] = await readExamples(folder)
    return sampleOf(example!, example!.title, model)
  } catch {
    return typedSample(greeting, model)
  }
}

/** Reads typed input: a message, or the whole body of a call as JSON. Throws where that JSON is invalid. */
export function typedSample(line: string, model: string): Sample {
  const request = line.startsWith('{')
    ? (JSON.parse(line) as Record<string, unknown>)
    : { messages: [{ role: 'user', content: line }] }
  const example = exampleSchema.parse({ title: line, config: {}, request, expect: {} })
  return { ...sampleOf(example, line, model), config: undefined }
}

/** The model that calls name: for a provider one of its own, else one that the mock serves. */
export const modelFor = (id: string, kind: Manifest['kind'] | undefined): string =>
  kind === 'provider' ? `${id}/large` : 'gpt-4o-mini'

function sampleOf(example: Example, title: string, model: string): Sample {
  const { config, path, headers, modes, upstream } = example
  const request = { model, ...example.request }
  return {
    title,
    config,
    path,
    headers,
    modes,
    body: (mode) => bodyOf({ ...example, request }, mode),
    scripts: upstream as readonly Script[],
  }
}
