namespace QuickSilver.Serialization;

/// <summary>The exception that is thrown when a payload is truncated, corrupted, or of another type.</summary>
/// <param name="message">The description of the error.</param>
/// <param name="innerException">The exception of the library that read the payload, if any.</param>
public sealed class PayloadFormatException(string message, Exception? innerException = null)
    : QuickSilverException(message, innerException)
{
    /// <summary>What cannot be read, without a full stop.</summary>
    internal string What { get; private init; } = message.TrimEnd('.');

    /// <summary>Says what cannot be read, given without a full stop, and what to do.</summary>
    internal static PayloadFormatException Of(string what) =>
        new($"{what}. Check that both sides have the same contract and codec.") { What = what };

    /// <summary>What any codec has thrown, without the advice that exceptions of this type end with.</summary>
    internal static string InWords(Exception exception) =>
        exception is PayloadFormatException payload ? payload.What : $"{exception.GetType().Name}: {exception.Message}";
}
