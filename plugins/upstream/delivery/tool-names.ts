import { type Call, type Chunk, type Provider, type ProviderSpec, type Target, WholeReply } from '#kernel'
import { type FittingNames, fittingNames } from '../kit/fitting-names.ts'
import { repliedWithToolNames, withToolNames } from '../kit/named-tools.ts'

/** The way back for an answer whose tools the provider knows by other names than the client. */
export class ToolNames {
  readonly #names: FittingNames

  constructor(names: FittingNames) {
    this.#names = names
  }

  /** A plain answer under the client's names. */
  reply(reply: WholeReply): WholeReply {
    return WholeReply.of(repliedWithToolNames(reply.body, this.#names.original))
  }

  /** A chunk under the client's names. It has no bytes: they would be among others that were made here. */
  chunk(chunk: Chunk): Chunk {
    return chunk.with(repliedWithToolNames(chunk.data, this.#names.original))
  }
}

/** A call as its provider takes it, and the way back for its answer. */
export interface Fitted {
  readonly call: Call
  /** Undefined when the call is as it was. */
  readonly names: ToolNames | undefined
}

/** Gives the tools of a call the names that its provider takes. The trace says which, under `tool_names`. */
export function fitted(call: Call, { provider }: Target): Fitted {
  const names = fittingNames(call.request, takenBy(provider))
  if (!names.changed) return { call, names: undefined }
  const { facts } = call.trace
  const renamed = Object.fromEntries(names.renamed)
  facts.tool_names = { ...(facts.tool_names as object | undefined), [provider.name]: renamed }
  return {
    call: call.with({ request: withToolNames(call.request, names.sent) }),
    names: new ToolNames(names),
  }
}

const patterns = new WeakMap<ProviderSpec, RegExp>()

function takenBy({ spec }: Provider): RegExp {
  let pattern = patterns.get(spec)
  if (!pattern) {
    pattern = new RegExp(spec.tool_names)
    patterns.set(spec, pattern)
  }
  return pattern
}
