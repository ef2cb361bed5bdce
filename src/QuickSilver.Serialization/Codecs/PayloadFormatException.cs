namespace QuickSilver.Serialization;

/// <summary>The bytes of a payload are not what its codec expects: truncated, corrupted, or of another type.</summary>
/// <param name="message">What is wrong with them.</param>
/// <param name="innerException">What the library that read them said, if one did.</param>
public sealed class PayloadFormatException(string message, Exception? innerException = null) : FormatException(message, innerException);
