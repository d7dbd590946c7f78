import { flag, free, named, oneOf, section, whole } from './fields.ts'

const configuration = {
  enabled: flag().optional().describe('Whether it runs; what its manifest says by default.'),
  config: free().optional().describe('Its settings, by its own schema.'),
  when: free().optional().describe('Which calls it applies to; all by default.'),
  isolation: oneOf('inproc', 'worker')
    .optional()
    .describe("Whether it runs in the gateway's process or in a worker; what its manifest says by default."),
  order: whole(-1_000_000, 1_000_000).optional().describe('Its place inside its stage; lower comes first.'),
  mode: oneOf('enforce', 'shadow').optional().describe('In shadow it only tells what it would do.'),
}

/** An entry of `modules`. */
export const moduleEntry = section({
  ...configuration,
  bindings: named(section(configuration)).optional().describe('Further configurations of it, by name.'),
})
