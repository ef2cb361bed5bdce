using QuickSilver.Fuzz.Control;
using QuickSilver.Membership.Protocol;

namespace QuickSilver.Fuzz.Tests;

// The inputs that become the most objects for their length: the shortest fields and the shortest messages, one after another. The fuzzer
// comes to them by chance, and is not to find that a limit is wrong.
public sealed class DenseInputTests
{
    private const int Bytes = 8_000;
    private const int Fields = 20;

    private static readonly ControlTarget Control = new();
    private static readonly ConfigurationTarget Configurations = new();

    public static TheoryData<int> Kinds => [.. ControlTarget.Kinds];

    [Theory]
    [MemberData(nameof(Kinds))]
    public void The_shortest_fields_stay_within_the_limit(int kind)
    {
        foreach (var field in ShortestFields())
        {
            FuzzRun.Execute(Control, [(byte)kind, .. Repeat(field)]);
        }
    }

    [Theory]
    [MemberData(nameof(Kinds))]
    public void The_shortest_messages_stay_within_the_limit(int kind)
    {
        foreach (var body in ShortestFields().Prepend(static _ => { }))
        {
            byte[] frames = Repeat(buffer => WriteFrame(buffer, kind, body));
            FuzzRun.Execute(Control, [0, .. frames]);
            FuzzRun.Execute(Configurations, frames);
        }
    }

    // An empty message or text, a text of one character, and a number.
    private static IEnumerable<Action<ControlBuffer>> ShortestFields() => Enumerable.Range(1, Fields).SelectMany(static number =>
        new Action<ControlBuffer>[]
        {
            buffer => buffer.End(buffer.Begin(number)),
            buffer => buffer.Text(number, "a"),
            buffer => buffer.UInt64(number, 1),
        });

    private static void WriteFrame(ControlBuffer buffer, int kind, Action<ControlBuffer> body)
    {
        int frame = buffer.BeginFrame();
        int envelope = buffer.Begin(kind);
        body(buffer);
        buffer.End(envelope);
        buffer.EndFrame(frame);
    }

    private static byte[] Repeat(Action<ControlBuffer> write)
    {
        var buffer = new ControlBuffer();
        while (buffer.Length < Bytes)
        {
            write(buffer);
        }

        return buffer.Written.ToArray();
    }
}
