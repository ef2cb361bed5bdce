namespace QuickSilver;

/// <summary>
/// The base of all exceptions of this library: catch it for whatever can fail because of the cluster, a peer, an option or a payload.
/// Wrong calls throw the exceptions of .NET, such as <see cref="ArgumentException"/>, <see cref="InvalidOperationException"/> and
/// <see cref="ObjectDisposedException"/>.
/// </summary>
public abstract class QuickSilverException : Exception
{
    private protected QuickSilverException(string message, Exception? innerException = null)
        : base(message, innerException)
    {
    }
}
