import { z } from 'zod'
import { internalError, type Provider } from '#kernel'
import type { IdForm } from './tool-ids.ts'

/** Which models are held to the form of their answers by the service itself. */
const structuredOutputSchema = z.strictObject({
  /** Models that take a JSON Schema, as globs; of others the catalogue may know it. */
  models: z.array(z.string()).default([]),
  /** Models that do not, whatever is said of them elsewhere. */
  except: z.array(z.string()).default([]),
  /** Knows JSON without a schema. */
  json_object: z.boolean().default(true),
  /** Takes a form of the answer together with tools. */
  beside_tools: z.boolean().default(true),
})

/** How compatible providers depart from OpenAI, as their manifests say it. */
const quirksSchema = z.strictObject({
  /** Appended to a base URL that has no path of its own, as people write those of local servers. */
  base_path: z.string().optional(),
  /** The header that takes its key as it is, where that is no bearer. */
  key_header: z.string().optional(),
  /** For a base URL without a path of its own: each model has an address, `{model}`, and options are in the query. */
  by_model: z
    .strictObject({
      path: z.string(),
      check_path: z.string(),
      query: z.record(z.string(), z.string()).default({}),
    })
    .optional(),
  /** What a check asks for. */
  check_path: z.string().default('/models'),
  /** Models whose names begin with the provider's own, which naming the provider has taken off. */
  own_models: z.array(z.string()).default([]),
  /** Fields that it refuses. */
  drop: z.array(z.string()).default([]),
  /** Fields of messages that it refuses. */
  drop_from_messages: z.array(z.string()).default([]),
  /** Fields of tool calls in messages that it refuses; the first is the gateway's own. */
  drop_from_tool_calls: z.array(z.string()).default(['extra']),
  /** What holds for the service of this name alone, and not for others that are said to be like it. */
  strict: z
    .strictObject({
      name: z.string(),
      drop_from_messages: z.array(z.string()),
      drop_from_tool_calls: z.array(z.string()),
      max_tool_id_length: z.int(),
      free_text_tools: z.boolean().default(false),
      prompt_cache_key: z.boolean().default(false),
      structured_output: structuredOutputSchema.optional(),
    })
    .optional(),
  structured_output: structuredOutputSchema.prefault({}),
  /** Fields of messages in which it wants its reasoning back; the others would refuse them. */
  reasoning_back: z.array(z.string()).default([]),
  /** Fields that it knows by another name. */
  rename: z.record(z.string(), z.string()).default({}),
  /** Fields for every request that does not have them. */
  add: z.record(z.string(), z.unknown()).default({}),
  /** Roles that it knows by another name. */
  roles: z.record(z.string(), z.string()).default({}),
  /** Values of `tool_choice` that it knows by another name. */
  tool_choice: z.record(z.string(), z.string()).default({}),
  /** Words of its own for why an answer ended, in OpenAI's. */
  finish_reasons: z.record(z.string(), z.enum(['stop', 'length', 'content_filter'])).default({}),
  /** Models beside OpenAI's own that take `reasoning_effort`, as globs. */
  takes_effort: z.array(z.string()).default([]),
  /** Values of `reasoning_effort` that it knows by another name. */
  efforts: z.record(z.string(), z.string()).default({}),
  /** Puts what its models think into the content, as parts of it. */
  thoughts_in_content: z.boolean().default(false),
  /** Models that want their thoughts back in the content, as globs. */
  thoughts_back: z.array(z.string()).default([]),
  /** Takes no message of the model's that says nothing and calls nothing. */
  no_silence: z.boolean().default(false),
  /** Takes no word of the user, or of the system, right after the result of a tool: the model's stands between. */
  assistant_after_tool: z.boolean().default(false),
  /** It takes ids of tool calls only if they are exactly so many letters and digits. */
  tool_id_length: z.int().optional(),
  /** It takes ids of tool calls up to so many characters. */
  max_tool_id_length: z.int().optional(),
  /** Refuses `stream_options`, or reports usage on streams without being asked. */
  no_stream_usage: z.boolean().default(false),
  /** Field of a stream's chunk under which usage is found when it is not `usage`. */
  usage_at: z.string().optional(),
  /** Its `completion_tokens` are without those for reasoning. */
  reasoning_apart: z.boolean().default(false),
  /** Counts the tokens of a conversation: where, and where in its answer the number is, with dots between the fields. */
  counts: z
    .strictObject({
      path: z.string(),
      /** The path stands beside the one of the API, and not below it. */
      beside: z.boolean().default(false),
      field: z.string(),
    })
    .optional(),
  /** Where in its usage it says, in USD, what the call cost; with dots between the fields. */
  cost_at: z.string().optional(),
})

/** Models by the names they were given there; one of the options in service.yaml. */
const deploymentsSchema = z.record(z.string(), z.string()).default({})

/** The options of service.yaml for every compatible provider. */
export const optionsSchema = z.object({ deployments: deploymentsSchema })

export type Quirks = z.infer<typeof quirksSchema> & {
  /** Where its API is. */
  readonly base: string
  readonly deployments: ReadonlyMap<string, string>
  /** Whether its models take tools of free text. */
  readonly free_text_tools: boolean
  /** Whether it takes a key that tells which prompts begin alike. */
  readonly prompt_cache_key: boolean
  /** The ids of tool calls that it takes; undefined when it takes any. */
  readonly toolIds: IdForm | undefined
}

const read = new WeakMap<Provider, Quirks>()

/** A provider's quirks; parsed once for each configuration of it. */
export function quirksOf(provider: Provider): Quirks {
  let quirks = read.get(provider)
  if (!quirks) {
    const { by_model, strict, ...parsed } = quirksSchema.parse(provider.spec.quirks)
    const own = strict?.name === provider.name ? strict : undefined
    quirks = {
      ...parsed,
      ...(own && {
        drop_from_messages: own.drop_from_messages,
        drop_from_tool_calls: own.drop_from_tool_calls,
      }),
      free_text_tools: own?.free_text_tools ?? false,
      prompt_cache_key: own?.prompt_cache_key ?? false,
      structured_output: own?.structured_output ?? parsed.structured_output,
      toolIds: toolIdForm(parsed.tool_id_length, own?.max_tool_id_length ?? parsed.max_tool_id_length),
      ...(by_model && hasNoPath(provider.baseUrl) && { by_model: withOptions(by_model, provider) }),
      base: withPath(provider.baseUrl, parsed.base_path),
      deployments: deploymentsOf(provider),
    }
    read.set(provider, quirks)
  }
  return quirks
}

function toolIdForm(exactly: number | undefined, most: number | undefined): IdForm | undefined {
  if (exactly !== undefined) return { length: exactly, exact: true }
  return most === undefined ? undefined : { length: most, exact: false }
}

function withPath(base: string, path: string | undefined): string {
  return path !== undefined && hasNoPath(base) ? base + path : base
}

const hasNoPath = (base: string): boolean => URL.canParse(base) && new URL(base).pathname === '/'

/** An address whose query has the provider's options in the place of their names. */
function withOptions<A extends { readonly query: Readonly<Record<string, string>> }>(
  address: A,
  { options }: Provider,
): A {
  const query = Object.entries(address.query).map(([name, value]) => [
    name,
    value.replace(/\{(\w+)\}/g, (_, option: string) => String(options[option] ?? '')),
  ])
  return { ...address, query: Object.fromEntries(query) }
}

function deploymentsOf({ name, options }: Provider): ReadonlyMap<string, string> {
  const { data, error } = deploymentsSchema.safeParse(options.deployments)
  if (data) return new Map(Object.entries(data))
  throw internalError(`providers.${name}.options.deployments: ${error.issues[0]?.message}.`)
}
