import { z } from 'zod'

const forms = [
  /^(routes|providers|store|calls|targets|body:read|body:write)$/,
  /^service:[a-z][a-z0-9-]{0,63}$/,
  /^network:(\*|(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*)$/,
  /^secrets:[A-Z][A-Z0-9_]{0,63}$/,
  /^models:\d{1,6}(\.\d{1,6})?$/,
]

/** One permission of a manifest, as text, so that two versions of a manifest are easily compared. */
export const permission = z.string().refine((text) => forms.some((form) => form.test(text)), {
  error:
    'must be routes, providers, store, calls, targets, body:read, body:write, service:<name>, network:<host>, secrets:<NAME> or ' +
    'models:<USD a day>',
})
