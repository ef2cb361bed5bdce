namespace QuickSilver.Core.Serialization;

/// <summary>The bytes of a payload are not what its codec expects: truncated, corrupted, or of another type.</summary>
/// <param name="message">What is wrong with them.</param>
public sealed class PayloadFormatException(string message) : FormatException(message);
