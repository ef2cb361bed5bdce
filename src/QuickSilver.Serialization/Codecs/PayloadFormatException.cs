namespace QuickSilver.Serialization;

/// <summary>The exception that is thrown when a payload is truncated, corrupted, or of another type.</summary>
/// <param name="message">The description of the error.</param>
/// <param name="innerException">The exception of the library that read the payload, if any.</param>
public sealed class PayloadFormatException(string message, Exception? innerException = null)
    : QuickSilverException(message, innerException);
