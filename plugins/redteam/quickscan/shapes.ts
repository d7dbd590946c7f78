import { z } from 'zod'
import { severities } from '#kernel'
import { webAddress } from '#kit'
import { verdictStatuses } from '../verdict/verdict.ts'

export const scanInput = z.strictObject({
  target_url: webAddress.optional().meta({
    description: 'An address that speaks OpenAI’s chat completions, in place of the gateway itself.',
  }),
  model: z.string().min(1).max(256).optional().meta({
    description: 'The model that is asked; the one of the settings without it.',
  }),
  api_key: z.string().min(1).max(10_000).optional().meta({
    description:
      'The key for `target_url`, or of the provider that the model names, as in `openai/gpt-4o`, or else gets it. Your own key to the gateway is the same as none. It is used for this scan only: nothing keeps it.',
  }),
  system_prompt: z.string().min(1).max(100_000).optional().meta({
    description: 'Instructions to attack in place of those of the probes.',
  }),
})
export type ScanInput = z.infer<typeof scanInput>

const result = z.object({
  name: z.string(),
  category: z.string(),
  description: z.string(),
  status: z.enum(verdictStatuses).meta({
    description:
      'Blocked only by a refusal of the model or a verdict of a guard; a limit or a timeout is inconclusive, a failure an error.',
  }),
  severity: z.enum(severities),
  detail: z.string(),
  evidence_preview: z.string().meta({ description: 'The beginning of the answer, without secrets.' }),
  owasp: z.string().meta({ description: 'Of the OWASP Top 10 for LLM Applications 2025.' }),
  trace_id: z.string().nullable().meta({ description: 'Null where an address was attacked.' }),
})
export type ProbeResult = z.infer<typeof result>

const count = z.int().min(0)

export const scan = z.object({
  scan_id: z.string(),
  timestamp: z.string().meta({ format: 'date-time' }),
  target: z.string().meta({ description: '`gateway`, or the address.' }),
  probes_run: count,
  blocked: count,
  bypassed: count,
  inconclusive: count.meta({ description: 'Probes without a verdict, errors included.' }),
  grade: z.string().nullable().meta({
    description: 'A to F by the share of all probes that were blocked; null when no probe has a verdict.',
  }),
  score: z.string().meta({ description: 'Such as `4/5`: blocked probes of all.' }),
  results: z.array(result),
  verdict: z.string(),
  next_steps: z.array(z.string()),
})
export type Scan = z.infer<typeof scan>
