using QuickSilver.Fuzz.Live;

namespace QuickSilver.Fuzz.Tests;

// Small changes of valid inputs, the same in each run and for all targets. The fuzzer goes far beyond them, but visits a third of the
// targets for each commit. A change that breaks another target is found here.
public sealed class ChangedInputTests
{
    private const int Changes = 4_000;

    // A whole node or service runs for each input.
    private const int ChangesOfLive = 40;

    private static readonly byte[] Values = [0, 1, 0x7f, 0x80, 0xff];

    public static TheoryData<string> Targets => [.. FuzzTargets.All.Select(static target => target.Name)];

    [Theory]
    [MemberData(nameof(Targets))]
    public void Small_changes_of_valid_inputs_are_no_findings(string name)
    {
        var target = FuzzTargets.Find(name)!;
        var inputs = target.Seeds().Select(static seed => seed.Bytes).Where(static bytes => bytes.Length is > 0 and < 4_096).ToArray();
        var random = new Random(44);
        int count = target is NodeTarget or ServiceTarget or ClientTarget ? ChangesOfLive : Changes;
        for (int i = 0; i < count; i++)
        {
            byte[] input = Change(inputs, random);
            try
            {
                FuzzRun.Execute(target, input);
            }
            catch (Exception exception)
            {
                Assert.Fail($"Input {i} of {name}, {Convert.ToHexString(input)}, is a finding: {exception}");
            }
        }
    }

    private static byte[] Change(byte[][] inputs, Random random)
    {
        byte[] input = [.. inputs[random.Next(inputs.Length)]];
        for (int changes = random.Next(1, 4); changes > 0; changes--)
        {
            // The first bytes hold versions, kinds and counts.
            int at = random.Next(2) == 0 ? random.Next(Math.Min(input.Length, 16)) : random.Next(input.Length);
            switch (random.Next(5))
            {
                case 0:
                    input[at] = Values[random.Next(Values.Length)];
                    break;
                case 1:
                    input[at] = (byte)random.Next(256);
                    break;
                case 2:
                    input[at] ^= (byte)(1 << random.Next(8));
                    break;
                case 3:
                    input = input[..Math.Max(1, at)];
                    break;
                default:
                    input = [.. input[..at], .. inputs[random.Next(inputs.Length)].Skip(at)];
                    input = input.Length == 0 ? [0] : input;
                    break;
            }
        }

        return input;
    }
}
