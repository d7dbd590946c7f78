import { flag, free, named, oneOf, section, whole } from './fields.ts'

const configuration = {
  enabled: flag().optional().describe('Whether it runs; by default as its manifest says.'),
  config: free().optional().describe('Its settings, by its own schema.'),
  when: free().optional().describe('The calls that it applies to; all by default.'),
  isolation: oneOf('inproc', 'worker')
    .optional()
    .describe("Whether it runs in the gateway's process or in a worker; by default as its manifest says."),
  order: whole(-1_000_000, 1_000_000).optional().describe('Its order within its stage; lower comes first.'),
  mode: oneOf('enforce', 'shadow').optional().describe('In shadow it only records what it would do.'),
}

/** An entry of `modules`. */
export const moduleEntry = section({
  ...configuration,
  bindings: named(section(configuration))
    .optional()
    .describe('Further configurations of the module, by name.'),
})
