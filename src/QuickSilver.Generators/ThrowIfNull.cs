namespace QuickSilver.Generators;

// netstandard2.0 lacks what TopicName, which is compiled here as well, calls.
internal static class ThrowIfNullExtension
{
    extension(ArgumentNullException)
    {
        public static void ThrowIfNull(object? argument)
        {
            if (argument is null)
            {
                throw new ArgumentNullException(nameof(argument));
            }
        }
    }
}
