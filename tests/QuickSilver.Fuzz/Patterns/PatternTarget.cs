using QuickSilver.Fuzz.Payloads;
using QuickSilver.Generators.Tests.Contracts;
using QuickSilver.RequestReply;
using QuickSilver.Serialization;
using QuickSilver.States;
using QuickSilver.Transfers;

namespace QuickSilver.Fuzz.Patterns;

// What the library itself puts around the payloads of an application: requests, faults, the messages and entries of states, and the
// letters of transfers. The first byte of the input chooses which. What was read is written and read again.
internal sealed class PatternTarget : FuzzTarget
{
    private static readonly StateEntryBytes<string, Tree> Entries = new(Codecs.Of<string>(), Codecs.Of<Tree>());
    private static readonly StateCodec<string, Tree> States = new(Entries, Codecs.Of<Tree>().Schema);
    private static readonly RequestCodec<Tree> Requests = new(Codecs.Of<Tree>(), Codecs.Of<Tree>().Schema, TimeProvider.System);

    private static readonly StateEntry<string, Tree> Entry =
        new("key", new Tree { Name = "leaf" }, isRemoved: false, new StateStamp(5, new NodeId(7, 1)));

    public override string Name => "patterns";

    public override IReadOnlyList<Type> Decoders { get; } =
    [
        typeof(RequestCodec<>), typeof(StateCodec<,>), typeof(StateEntryBytes<,>), typeof(StateEntryFrame), typeof(FaultDetail),
        typeof(TransferLetter),
    ];

    public override IEnumerable<Seed> Seeds()
    {
        yield return new Seed("request", [0, .. Codecs.Write(Requests, new RequestMessage<Tree>(new Tree { Name = "a" }, 1, 2, 500))]);
        yield return new Seed("entry", [1, .. Codecs.Write(States, new StateMessage<string, Tree> { Entry = Entry })]);
        foreach (var kind in new[] { StateMessageKind.Hello, StateMessageKind.Mark, StateMessageKind.Ask })
        {
            var message = new StateMessage<string, Tree> { Kind = kind, Node = new NodeId(7, 1), Number = 3, Box = 1, IsComplete = true };
            yield return new Seed(kind.ToString().ToLowerInvariant(), [1, .. Codecs.Write(States, message)]);
        }

        byte[] entry = new byte[Entries.GetSize(Entry)];
        Entries.Write(Entry, entry);
        yield return new Seed("letter", [2, .. entry, .. entry]);
        yield return new Seed("fault", [3, .. FaultDetail.Of(Codecs.Of<Tree>(), new Tree { Name = "leaf" }).Write("No.")]);
        foreach (var kind in Enum.GetValues<TransferLetterKind>())
        {
            int body = kind is TransferLetterKind.Pull or TransferLetterKind.Chunk ? 8 : 0;
            byte[] letter = new byte[1 + TransferLetter.HeaderBytes + body];
            letter[0] = 4;
            TransferLetter.WriteHeader(letter.AsSpan(1), kind, number: 3, value: 2, chunks: 1);
            yield return new Seed($"transfer-{kind.ToString().ToLowerInvariant()}", letter);
        }
    }

    public override void Run(ReadOnlySpan<byte> input)
    {
        if (input.IsEmpty)
        {
            return;
        }

        try
        {
            switch (input[0])
            {
                case 0:
                    Codecs.SameAgain(Requests, Requests.Read(input[1..]));
                    break;
                case 1:
                    Codecs.SameAgain(States, States.Read(input[1..]));
                    break;
                case 2:
                    ReadEntries(input[1..]);
                    break;
                case 3:
                    ReadFault(input[1..]);
                    break;
                case 4:
                    ReadTransfer(input[1..]);
                    break;
            }
        }
        catch (PayloadFormatException)
        {
        }
    }

    private static void ReadFault(ReadOnlySpan<byte> input)
    {
        var fault = FaultDetail.Read(input, out string text);
        byte[] once;
        try
        {
            once = fault.Write(text);
        }
        catch (NotSupportedException)
        {
            // A writer may need more bytes for a length than the input did.
            return;
        }

        var again = FaultDetail.Read(once, out string same);
        FindingException.ThrowUnless(
            text == same && fault.Contract.Equals(again.Contract) && fault.Value.Span.SequenceEqual(again.Value.Span),
            "A fault is not what was written.");
        _ = fault.TryRead(Codecs.Of<Tree>(), out _);
    }

    private static void ReadTransfer(ReadOnlySpan<byte> input)
    {
        if (TransferLetter.TryRead(input, out var letter))
        {
            Span<byte> header = stackalloc byte[TransferLetter.HeaderBytes];
            TransferLetter.WriteHeader(header, letter.Kind, letter.Number, letter.Value, letter.Chunks);
            FindingException.ThrowUnless(
                input[..header.Length].SequenceEqual(header) && input[header.Length..].SequenceEqual(letter.Body),
                "A letter of a transfer is not what was written.");
        }
    }

    private static void ReadEntries(ReadOnlySpan<byte> rest)
    {
        while (!rest.IsEmpty)
        {
            var entry = Entries.Read(ref rest);
            byte[] once = new byte[Entries.GetSize(entry)];
            FindingException.ThrowUnless(Entries.Write(entry, once) == once.Length, "An entry is not as long as was said.");
            ReadOnlySpan<byte> again = once;
            var same = Entries.Read(ref again);
            FindingException.ThrowUnless(
                again.IsEmpty && same.Key == entry.Key && same.Stamp == entry.Stamp && same.IsRemoved == entry.IsRemoved,
                "An entry is not what was written.");
        }
    }
}
