/** A manual whose parts are told apart by their headings. */
export const manual = `# Coffee machine

## Filling the tank
Lift the lid at the back and pour in cold water up to the mark. The tank holds 1.8 litres.

## Descaling
Lime from hard water narrows the pipes. Every three months, run the program with a mild acid and rinse twice.

## Grinding
Turn the ring to the left for a finer powder. Dark roasts need a coarser setting than light ones.

## Milk foam
Use cold milk and hold the nozzle just below the surface until the jug becomes too hot to touch.

## Error E4
The brewing unit is blocked. Switch the machine off, pull the unit out and wash it under the tap.

## Error E7
The pump draws air. Open the steam valve until water runs out steadily.

## Guarantee
The maker repairs faults free of charge for two years. Keep the receipt. Lime damage is excluded.

## Energy saving
After thirty minutes without use the heater switches itself off. The delay can be changed in the menu.

## Disposal
Do not put the machine into household rubbish. Collection points take electrical devices back.

## Cleaning the drip tray
Empty the tray when the red float rises, and wash it with dish soap.
`

/** Questions, and the part that answers each. */
export const labelled: readonly (readonly [string, string])[] = [
  ['How much water does the tank hold?', 'Filling the tank'],
  ['How often must I descale it, and is descaling done with acid?', 'Descaling'],
  ['How do I get a finer powder?', 'Grinding'],
  ['Which setting for dark roasts?', 'Grinding'],
  ['How do I make foam from milk?', 'Milk foam'],
  ['The display says E4', 'Error E4'],
  ['What does error E7 mean?', 'Error E7'],
  ['the brewing unit is blocked', 'Error E4'],
  ['Do I need the receipt for a repair during the guarantee?', 'Guarantee'],
  ['When does the heater switch off to save energy?', 'Energy saving'],
  ['Where do I take old electrical devices?', 'Disposal'],
  ['Wann leuchtet E7?', 'Error E7'],
  ['How do I clean the drip tray?', 'Cleaning the drip tray'],
  ['steam valve', 'Error E7'],
]
