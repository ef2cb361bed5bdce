using System.Text;
using QuickSilver.Core.Environment;
using QuickSilver.Topics;

namespace QuickSilver.Fuzz.Texts;

// Texts from outside: names of topics, and options. The first byte of the input chooses which; the rest is UTF-16, so that surrogates
// without a partner come too.
internal sealed class TextTarget : FuzzTarget
{
    public override string Name => "texts";

    public override IReadOnlyList<Type> Decoders { get; } = [typeof(NodeInterface), typeof(TopicName), typeof(EphemeralPorts)];

    public override IEnumerable<Seed> Seeds()
    {
        yield return Seed("topic", 0, "flights/departures");
        yield return Seed("interface-address", 1, "10.0.0.5");
        yield return Seed("interface-network", 1, "10.0.0.0/8");
        yield return Seed("interface-name", 1, "eth0");
        yield return Seed("ports", 2, "32768\t60999\n7400,7402-7410");

        static Seed Seed(string name, byte which, string text) => new(name, [which, .. Encoding.Unicode.GetBytes(text)]);
    }

    public override void Run(ReadOnlySpan<byte> input)
    {
        if (input.IsEmpty)
        {
            return;
        }

        string text = new(System.Runtime.InteropServices.MemoryMarshal.Cast<byte, char>(input[1..]));
        switch (input[0])
        {
            case 0:
                ReadName(text);
                break;
            case 1:
                ReadInterface(text);
                break;
            case 2:
                int line = text.IndexOf('\n', StringComparison.Ordinal);
                _ = line < 0 ? EphemeralPorts.Parse(text, "") : EphemeralPorts.Parse(text[..line], text[(line + 1)..]);
                break;
        }
    }

    private static void ReadName(string text)
    {
        if (TopicName.Fault(text) is null)
        {
            byte[] written = Encoding.UTF8.GetBytes(text);
            FindingException.ThrowUnless(Encoding.UTF8.GetString(written) == text, "A valid name is not the same in UTF-8.");
        }
    }

    private static void ReadInterface(string text)
    {
        if (NodeInterface.TryParse(text, null, out var read))
        {
            FindingException.ThrowUnless(
                NodeInterface.TryParse(read.ToString(), null, out var same) && same == read, "An interface is not what was written.");
        }
    }
}
