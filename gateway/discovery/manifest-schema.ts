import valid from 'semver/functions/valid.js'
import validRange from 'semver/ranges/valid.js'
import { z } from 'zod'
import { kernelKeys } from '../../config/schema.ts'
import { providerSpec } from '../../contract/provider.ts'
import { findingTypes } from '../../kernel/call/findings.ts'
import { stages } from '../../kernel/chain/hooks.ts'
import { idPattern, type Manifest } from '../../kernel/discovery/manifest.ts'
import { permission } from './permission.ts'

const ids = z.array(z.string().regex(idPattern)).default([])

const shared = {
  id: z.string().regex(idPattern, 'must be lower case letters, digits and dashes'),
  version: z.string().refine((v) => valid(v) !== null, 'must be a semantic version'),
  api: z
    .string()
    .refine((range) => validRange(range) !== null, 'must be a version range')
    .default('^3.0.0'),
  title: z.string().min(1).max(80),
  description: z.string().min(1).max(400),
  requires: ids,
  provides: z.array(z.string()).default([]),
  enabled: z.boolean().default(false),
  permissions: z.array(permission).default([]),
}

const sectioned = {
  sections: z
    .array(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be lower case letters, digits and _'))
    .refine((keys) => !keys.some((key) => kernelKeys.has(key)), "must not be a key of the kernel's")
    .default([]),
}

const stage = z.enum(stages)
const failure = z.enum(['open', 'closed'])
const placed = { before: ids, after: ids, finds: z.enum(findingTypes).optional() }
const hookMs = z.int().min(1).max(3_600_000).optional()

/** A manifest as it is written, with what it leaves out. */
export const manifestSchema: z.ZodType<Manifest> = z.discriminatedUnion('kind', [
  z.strictObject({
    ...shared,
    ...placed,
    kind: z.literal('module'),
    stage,
    failure,
    isolation: z.enum(['inproc', 'worker']).default('inproc'),
    budget_ms: hookMs,
    timeout_ms: hookMs,
  }),
  z.strictObject({
    ...{ ...shared, ...sectioned, ...placed, kind: z.literal('area') },
    ...{ stage: stage.optional(), failure: failure.default('open') },
  }),
  z.strictObject({ ...shared, ...sectioned, kind: z.literal('provider'), provider: providerSpec.optional() }),
])
