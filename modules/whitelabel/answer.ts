import type { Call, Completion, CompletionChunk } from '#kernel'
import type { Brand } from './brands.ts'
import { namePattern, tellingNames } from './hidden.ts'

type Fields = Readonly<Record<string, unknown>>

/** The fields of the wires. What providers add to them is theirs, and tells of them. */
const ofAnswers = ['object', 'created', 'choices', 'data', 'usage']
const ofChoices = ['index', 'message', 'delta', 'text', 'finish_reason', 'stop_sequence', 'logprobs']
const ofUsage = [
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'prompt_tokens_details',
  'completion_tokens_details',
]

/** How ids begin on each wire; on the others nobody sees the id of the answer. */
const prefixes: Readonly<Record<string, string>> = {
  chat: 'chatcmpl-',
  completions: 'cmpl-',
  messages: 'msg_',
}

/** An answer, or a chunk of one, with the names of its brand and nothing of its provider's own; `shown` gives names of models. */
export function branded<T extends Completion | CompletionChunk>(
  said: T,
  call: Call,
  brand: Brand,
  shown: (model: string) => string,
): T {
  const { id, model, system_fingerprint: fingerprint, choices, usage } = said
  return {
    ...(id !== undefined && { id: `${prefixes[call.wire] ?? ''}${call.id.replace(/^tr_/, '')}` }),
    ...only(said, ofAnswers),
    ...(model !== undefined && { model: shown(model) }),
    ...(fingerprint !== undefined && fingerprint !== null && { system_fingerprint: `fp_${brand.id}` }),
    ...(choices && { choices: (choices as readonly Fields[]).map((choice) => only(choice, ofChoices)) }),
    ...(usage && { usage: only(usage, ofUsage) }),
  } as unknown as T
}

/** The name that a client sees for a model: that of the brand, else the one it asked for, unless that one tells. */
export function shownModel(model: string, call: Call, { modelName, words, name }: Brand): string {
  const { provider } = call.trace.served ?? {}
  const asked = call.request.model
  const shown = modelName(model) ?? (provider && modelName(`${provider}/${model}`)) ?? modelName(asked)
  if (shown !== undefined) return shown
  const tells = namePattern([...tellingNames(call, words), model])!
  return asked.search(tells) === -1 ? asked : name
}

const only = (fields: Fields, kept: readonly string[]): Fields =>
  Object.fromEntries(kept.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])))
