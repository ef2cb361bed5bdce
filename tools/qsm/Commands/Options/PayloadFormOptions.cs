using System.CommandLine;
using QuickSilver.Tool.Perf.Payloads;

namespace QuickSilver.Tool.Commands.Options;

// What perf send and perf receive exchange; the same on both sides, or the topic's contract does not match.
internal sealed class PayloadFormOptions
{
    private readonly Option<bool> _typed = new("--typed")
    {
        Description = "Send a data contract of about 150 bytes (a flight departure, with its generated codec) instead of bytes. It is "
            + "a struct with short texts packed into numbers, so decoding does not allocate. Use it on both sides.",
    };

    private readonly Option<bool> _typedText = new("--typed-text")
    {
        Description = "Like --typed, but with a class with strings, as most contracts are. Each receiver allocates the message and its "
            + "strings, about 500 bytes. Use it on both sides.",
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
