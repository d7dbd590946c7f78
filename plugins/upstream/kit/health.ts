import { z } from 'zod'
import { type CircuitState, defineEvent, token } from '#kernel'

/** The service of the module that breaks circuits. */
export interface CircuitReader {
  /** The circuit of one model at a provider; without a model, the worst of the provider's. */
  state(provider: string, model?: string): CircuitState
}

export const Circuits = token<CircuitReader>('circuits')

export const CircuitOpened = defineEvent(
  'circuit.opened',
  z.object({ provider: z.string(), model: z.string(), failures: z.int(), open_s: z.number() }),
  {
    alias: 'circuit_open',
    description: 'A provider kept failing for a model and gets no calls for it for a while.',
  },
)

export const CircuitClosed = defineEvent(
  'circuit.closed',
  z.object({ provider: z.string(), model: z.string() }),
  {
    description: 'A provider answers for a model again and gets calls for it.',
  },
)

export const KeyQuarantined = defineEvent(
  'provider.key_quarantined',
  z.object({
    provider: z.string(),
    model: z.string().nullable().meta({ description: 'Null for every model.' }),
    key_hint: z.string(),
    status: z.int(),
    quarantine_s: z.number(),
  }),
  { description: "A provider refused one of the gateway's keys. The key is not used for a while." },
)
