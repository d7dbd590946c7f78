import { badRequest } from '#kernel'
import type { Quirks } from './quirks.ts'

const form = /^(?!.*\.\.)[\w.-]+(?:\/[\w.-]+)?$/

/** A model as a path of the API. Throws a bad request for a name that would lead elsewhere. */
export function pathOf(model: string, { models_path: folder = 'models' }: Partial<Quirks> = {}): string {
  if (!form.test(model)) throw badRequest(`${model} is not the name of a Gemini model.`, { param: 'model' })
  return model.includes('/') ? model : `${folder}/${model}`
}

/** The version in a model's name, such as 2.5; undefined for `gemini-flash-latest` and others that have none. */
function versionOf(model: string): number | undefined {
  const found = /gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1]
  return found === undefined ? undefined : Number(found)
}

/** What a model can do that not all can; a name that does not tell is taken for a new model. */
export interface Abilities {
  /** Whether answers can be had in JSON: at all, and together with functions. */
  readonly json: 'never' | 'alone' | 'always'
  /** Takes JSON Schema as it is; others a part of OpenAPI's. */
  readonly jsonSchema: boolean
  /** Has a place for instructions apart from what the user says. */
  readonly instructions: boolean
  /** How a request sets the amount of thinking. */
  readonly thinking: 'none' | 'budget' | 'level'
  /** Insists on the signatures of tool calls. */
  readonly signed: boolean
  /** Addresses of which it fetches files. */
  readonly fetches: RegExp
  /** Knows ids of tool calls. */
  readonly callIds: boolean
  /** Takes pictures and documents as parts of a function's result; others refuse the request. */
  readonly nests: boolean
}

/** Addresses that every model knows to read: its own files, and videos. */
const own = /^https:\/\/(?:generativelanguage\.googleapis\.com\/|(?:www\.)?youtube\.com\/|youtu\.be\/)/

export function abilitiesOf(
  model: string,
  { cloud_files, call_ids = true }: Partial<Quirks> = {},
): Abilities {
  const old = /gemma|learnlm|aqa/.test(model)
  const version = old ? 1 : (versionOf(model) ?? (/gemini-(?:pro|ultra)(?:-vision)?$/.test(model) ? 1 : 3))
  return {
    json: version < 1.5 ? 'never' : version < 3 ? 'alone' : 'always',
    jsonSchema: version >= 2.5,
    instructions: !/gemma-[23]/.test(model),
    thinking: version >= 3 ? 'level' : version >= 2.5 ? 'budget' : 'none',
    signed: version >= 3,
    fetches: cloud_files ? /^(?:https|gs):\/\// : version >= 2.5 ? /^https:\/\// : own,
    callIds: call_ids,
    nests: (versionOf(model) ?? 0) >= 3,
  }
}
