using System.CommandLine;
using QuickSilver.Tool.Perf.Payloads;

namespace QuickSilver.Tool.Commands;

// What perf send and perf receive exchange; the same on both sides, or the topic's contract does not match.
internal sealed class PayloadFormOptions
{
    private readonly Option<bool> _typed = new("--typed")
    {
        Description = "Send a data contract of some 150 bytes, a flight's departure, by its generated codec, instead of bytes. It is a "
            + "struct, its short texts packed into numbers, so that decoding allocates nothing. Both sides.",
    };

    private readonly Option<bool> _typedText = new("--typed-text")
    {
        Description = "As --typed, but as a class with strings, as most contracts are: each receiver allocates the message and all "
            + "of its strings, some 500 bytes. Both sides.",
    };

    public Command AddTo(Command command)
    {
        command.Add(_typed);
        command.Add(_typedText);
        Bounds.Exclude(command, _typed, _typedText);
        return command;
    }

    /// <summary>Refuses an option that means nothing for a typed message.</summary>
    public void Exclude(Command command, Option other)
    {
        Bounds.Exclude(command, _typed, other);
        Bounds.Exclude(command, _typedText, other);
    }

    public PayloadForm Read(ParseResult parse) =>
        parse.GetValue(_typed) ? PayloadForm.Typed
        : parse.GetValue(_typedText) ? PayloadForm.TypedText
        : PayloadForm.Bytes;
}
